// The keys file and the bearer header, as tables.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findCredential, readKeyRing } from '#export-service/key-ring.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';

const ring = readKeyRing('# team\nsvc_one\n\n  svc_two  \r\nread:svc_reader\n#svc_off\n');

test('each line is a key, except comments and blank lines, and read: permits reading only', () => {
  assert.equal(ring.size, 3);
  assert.equal(findCredential(ring, 'Bearer svc_one')?.mayWrite, true);
  assert.equal(findCredential(ring, 'Bearer svc_two')?.mayWrite, true);
  assert.equal(findCredential(ring, 'Bearer svc_reader')?.mayWrite, false);
});

test('only a whole known key with the bearer scheme is accepted', () => {
  const rows: readonly (readonly [string | undefined, boolean])[] = [
    ['Bearer svc_one', true],
    ['bearer svc_one', true],
    ['BEARER   svc_one ', true],
    ['Bearer svc_on', false],
    ['Bearer svc_onee', false],
    ['Bearer SVC_ONE', false],
    ['Bearer svc_off', false],
    ['Bearer read:svc_reader', false],
    ['Bearer #svc_off', false],
    ['Bearer ', false],
    ['Bearer', false],
    ['svc_one', false],
    ['Basic svc_one', false],
    ['Bearer svc_one svc_one', false],
    ['', false],
    [undefined, false],
  ];
  for (const [header, isKnown] of rows) {
    assert.equal(findCredential(ring, header) !== undefined, isKnown, String(header));
  }
});

test('a credential does not show its key, and differs for each key', () => {
  const [one, two] = ['Bearer svc_one', 'Bearer svc_two'].map((header) => findCredential(ring, header));
  assert.match(one?.id ?? '', /^[0-9a-f]{64}$/);
  assert.notEqual(one?.id, two?.id);
  assert.doesNotMatch(JSON.stringify([...ring]), /svc_/);
});

test('a file without a key, or with an invalid line, is refused without repeating the line', () => {
  for (const text of ['', '\n# nothing\n'])
    assert.throws(() => readKeyRing(text), { code: 'KeysFileInvalid' });
  for (const text of ['svc_a\nsvc_b c\n', 'svc_a\nsvc_\u00e9', 'svc_a\nread:']) {
    assert.throws(
      () => readKeyRing(text),
      (error) =>
        error instanceof PublishableError &&
        error.code === 'KeysFileInvalid' &&
        /line 2/.test(error.message) &&
        !/svc_/.test(error.message),
    );
  }
});
