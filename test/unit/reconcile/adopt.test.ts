// When the output Secret names another publication than status, and needs a confirmation.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adopt, isUnknownToStatus } from '../../../src/reconcile/adopt.ts';
import type { Observation } from '../../../src/reconcile/observation.ts';
import { calm, fresh, published } from './cases/observations.ts';

const naming = (change: Partial<typeof published>): Observation => ({
  ...calm,
  output: { kind: 'ours', published: { ...published, ...change } },
});

const rows: readonly (readonly [string, Observation, boolean])[] = [
  ['nothing is published, and status names no publication', fresh, false],
  ['the Secret is gone', { ...calm, output: { kind: 'absent' } }, false],
  ['the Secret is foreign', { ...calm, output: { kind: 'foreign', objectKind: 'Secret' } }, false],
  ['the Secret lost its bundle.json', { ...calm, output: { kind: 'ours', published: undefined } }, false],
  ['the first publication, whose status write was lost', { ...calm, status: {} }, false],
  ['both name one publication', calm, false],
  ['the publication has another link', naming({ issuedAt: 1000, expiresAt: 2000 }), false],
  ['the Secret names another version', naming({ version: '20260105-120000-bbbbbbbb' }), true],
  ['the Secret names an earlier version', naming({ version: '20260104-120000-bbbbbbbb' }), true],
  ['the Secret names another job of that version', naming({ jobId: 'se_2' }), true],
];

for (const [name, observation, isUnknown] of rows) {
  test(`${name}: ${isUnknown ? 'the publication is confirmed' : 'no confirmation'}`, () => {
    assert.equal(isUnknownToStatus(observation), isUnknown);
    assert.equal(isUnknownToStatus(adopt(observation)), false, 'what was adopted is known');
  });
}
