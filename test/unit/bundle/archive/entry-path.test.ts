// Whatever a name is, what comes out is canonical or nothing does.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFilePath } from '#bundle/archive/entry-path.ts';
import { defaultLimits } from '#bundle/limits.ts';
import { printableName } from '#bundle/refusal.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import * as fc from '../../../support/properties.ts';

const pieces = fc.oneof(
  fc.constantFrom(
    '/',
    '//',
    '.',
    '..',
    './',
    '../',
    '\\',
    'C:',
    '\0',
    '\n',
    'a',
    'b.html',
    '%2e',
    '\ufffd',
    'é',
  ),
  fc.string({ unit: 'binary', maxLength: 6 }),
);
const names = fc.array(pieces, { maxLength: 12 }).map((list) => list.join(''));

test('a name is refused, or becomes a canonical path that reads as itself', () => {
  fc.assert(
    fc.property(names, (name) => {
      let path: string;
      try {
        path = readFilePath(name, defaultLimits).path;
      } catch (error) {
        assert.ok(error instanceof PublishableError && error.kind === 'refused');
        return;
      }
      const segments = path.split('/');
      assert.ok(segments.every((segment) => segment !== '' && segment !== '.' && segment !== '..'));
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they must not be there
      assert.doesNotMatch(path, /[\u0000-\u001f\u007f-\u009f\\\ufffd]|^[A-Za-z]:/);
      assert.deepEqual(readFilePath(path, defaultLimits), { path, isNormalised: false });
    }),
    { numRuns: 2000 },
  );
});

test('a name in a message is quoted, escaped and bounded', () => {
  assert.equal(printableName('a/é.html'), '"a\\u{2f}é.html"'.replace('\\u{2f}', '/'));
  assert.equal(printableName('a"\n\u001b[2J\\'), '"a\\u{22}\\u{a}\\u{1b}[2J\\u{5c}"');
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (name) => {
      const shown = printableName(name);
      assert.ok(shown.length <= 98);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they must not be there
      assert.doesNotMatch(shown, /[\u0000-\u001f\u007f-\u009f]/);
    }),
  );
});
