// Which keys open the search, and which move in its results: keyboards of several countries, input methods, and texts of the page.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { movedPosition, opensSearch, type PressedKey, resultMove } from '#site/search-client/key-commands.ts';

const plain: PressedKey = {
  ...{ key: '', code: '', ctrlKey: false, metaKey: false, altKey: false, shiftKey: false },
  isComposing: false,
};

for (const [what, pressed, isEditing, opens] of [
  ['a slash', { key: '/', code: 'Slash' }, false, true],
  ['a slash above 7', { key: '/', code: 'Digit7', shiftKey: true }, false, true],
  ['a slash in a text', { key: '/', code: 'Slash' }, true, false],
  ['a slash with Ctrl', { key: '/', code: 'Slash', ctrlKey: true }, false, false],
  ['Ctrl-K in a text', { key: 'k', code: 'KeyK', ctrlKey: true }, true, true],
  ['Cmd-K', { key: 'k', code: 'KeyK', metaKey: true }, false, true],
  ['Ctrl-K with the shift lock', { key: 'K', code: 'KeyK', ctrlKey: true }, false, true],
  ['Ctrl-K of a Russian keyboard', { key: 'л', code: 'KeyK', ctrlKey: true }, false, true],
  ['Ctrl-K of a Dvorak keyboard', { key: 'k', code: 'KeyV', ctrlKey: true }, false, true],
  ['Ctrl-T of a Dvorak keyboard', { key: 't', code: 'KeyK', ctrlKey: true }, false, false],
  ['Ctrl-Shift-K', { key: 'K', code: 'KeyK', ctrlKey: true, shiftKey: true }, false, false],
  ['a letter', { key: 'k', code: 'KeyK' }, false, false],
  ['a slash while a word is composed', { key: '/', code: 'Slash', isComposing: true }, false, false],
] as const) {
  test(`${what} ${opens ? 'opens' : 'does not open'} the search`, () => {
    assert.equal(opensSearch({ ...plain, ...pressed }, isEditing), opens);
  });
}

test('arrows, Home and End move, but not with Shift and not while a word is composed', () => {
  const moves = ['ArrowDown', 'ArrowUp', 'Home', 'End', 'a'].map((key) => resultMove({ ...plain, key }));
  assert.deepEqual(moves, ['next', 'previous', 'first', 'last', undefined]);
  for (const held of [{ shiftKey: true }, { ctrlKey: true }, { isComposing: true }]) {
    assert.equal(resultMove({ ...plain, key: 'End', ...held }), undefined);
  }
});

test('a move goes around both ends', () => {
  assert.deepEqual(
    [
      movedPosition('next', 2, 3),
      movedPosition('previous', 0, 3),
      movedPosition('previous', -1, 3),
      movedPosition('next', -1, 3),
      movedPosition('first', 2, 3),
      movedPosition('last', 0, 3),
    ],
    [0, 2, 2, 0, 0, 2],
  );
});
