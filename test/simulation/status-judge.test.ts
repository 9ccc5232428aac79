// The oracles report a stored status that breaks a rule of conditions, for each rule.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brokenStatuses, ready, status } from '../support/broken-statuses.ts';
import type { StoredStatus } from '../support/kstatus-rules.ts';
import { Oracles } from './oracles.ts';
import { resource, Simulation } from './simulation.ts';

/** The oracles of a simulation in which this is stored, for a resource of generation 2. */
function oraclesOver(stored: StoredStatus): Oracles {
  const simulation = new Simulation();
  const object = simulation.object();
  assert.ok(object);
  const metadata = { ...object.metadata, generation: 2 };
  simulation.cluster.exports.set(`${resource.namespace}/${resource.name}`, {
    ...object,
    metadata,
    status: stored,
  });
  assert.equal(simulation.object()?.status, stored);
  return new Oracles(simulation);
}

for (const [words, [broken]] of Object.entries(brokenStatuses)) {
  test(`noticed: ${words}`, () => {
    assert.throws(
      () => oraclesOver(broken).checkStatus('after a pass'),
      ({ message }: Error) => message.includes(words),
    );
  });
}

test('a good status is accepted, and one that was not updated after a reconcile is not', () => {
  oraclesOver(status(ready)).checkStatus('after a pass');
  const behind = { observedGeneration: 1, conditions: [{ ...ready, observedGeneration: 1 }] };
  const oracles = oraclesOver(behind);
  oracles.checkStatus('any');
  assert.throws(() => oracles.checkStatus('after a pass'));
});
