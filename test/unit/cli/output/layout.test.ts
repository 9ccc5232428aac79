// Trees and prose on a narrow terminal.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { drawTree, wrapText } from '#cli/output/layout.ts';

const leaf = (text: string) => ({ text, children: [] });

test('guides join nodes with their children, and lines of a long text with their node', () => {
  const tree = {
    text: 'root is long enough to wrap',
    children: [{ text: 'one two three four five', children: [leaf('a b')] }, leaf('last of the nodes here')],
  };
  assert.deepEqual(drawTree(tree, { width: 20, isColoured: false }), [
    'root is long',
    '│    enough to wrap',
    '├─ one two three',
    '│  │ four five',
    '│  └─ a b',
    '└─ last of the',
    '     nodes here',
  ]);
});

test('a word that is too long stays whole', () => {
  assert.deepEqual(wrapText(`a ${'b'.repeat(30)} c`, 10), ['a', 'b'.repeat(30), 'c']);
});
