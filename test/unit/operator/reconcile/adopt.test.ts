// When the output Secret names another publication than status, and needs a confirmation.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adopt, isUnknownToStatus } from '#operator/reconcile/adopt.ts';
import type { Observation } from '#operator/reconcile/observation.ts';
import type { Publication } from '#platform/wire/publication.ts';
import { held, withStatus } from './cases/conditions.ts';
import { at, calm, fresh, inputHash, published } from './cases/observations.ts';

const naming = (change: Partial<Publication>): Observation => ({
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
  ['the publication has another link', naming({ link: { issuedAt: 1000, expiresAt: 2000 } }), false],
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

{
  const digest = 'c'.repeat(64);
  const first = held('TooFewPages');
  const candidate = {
    ...first.status.candidate,
    version: 'v3',
    digest,
    jobId: 'se_2',
    reason: 'TooFewPages',
  };
  const waiting = withStatus(first, { candidate, lastHandledRequest: 'one' });
  const named: Observation = { ...waiting, reject: 'v3' };

  test('a rejected candidate is dropped, and its job, content and time are recorded', () => {
    const { candidate: left, job, rejected } = adopt(named).status;
    assert.deepEqual([left, job?.verdict, job?.message], [undefined, 'Rejected', 'v3']);
    assert.deepEqual(rejected, {
      generation: 1,
      inputHash,
      request: 'one',
      versions: [{ version: 'v3', digest, rejectionTime: at(0) }],
    });
  });

  test('a rejection takes precedence over a promotion of the same candidate', () => {
    assert.equal(adopt({ ...named, promote: 'v3' }).status.candidate, undefined);
  });

  test('the name of another version rejects nothing', () => {
    const { candidate: left, rejected } = adopt({ ...waiting, reject: 'v2' }).status;
    assert.deepEqual([left?.version, rejected], ['v3', undefined]);
  });

  test('a job that is newer than the rejected candidate keeps its verdict', () => {
    const newer = withStatus(named, { job: { id: 'se_3', inputHash, startTime: at(-1) } });
    assert.equal(adopt(newer).status.job?.verdict, undefined);
  });

  test('a second rejection keeps the first', () => {
    const again = { ...adopt(named), reject: 'v4' };
    const second = withStatus(again, { candidate: { ...candidate, version: 'v4', digest: 'd'.repeat(64) } });
    assert.deepEqual(
      adopt(second).status.rejected?.versions.map(({ version }) => version),
      ['v4', 'v3'],
    );
  });

  const { status } = adopt(named);
  const after: Observation = { ...named, status };
  for (const [name, changed] of Object.entries({
    'a change of the spec': { ...after, generation: 2 },
    'other inputs': { ...after, inputHash: 'other' },
    'a handled request': withStatus(after, { lastHandledRequest: 'two' }),
  })) {
    test(`${name} ends a rejection`, () => {
      assert.equal(adopt(changed).status.rejected, undefined);
    });
  }

  test('a rejection holds while nothing changes', () => {
    assert.deepEqual(adopt(after).status.rejected, status.rejected);
  });
}
