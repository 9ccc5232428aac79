// The planner in its real thread: costly documents are refused or planned there, one namespace's backlog leaves the
// others their turn, and a thread that breaks is no verdict on a document.

import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { createTargetPlanner, type TargetPlannerThread } from '#operator/services/target-planner.ts';
import type { TargetTask } from '#operator/targets/target-plan.ts';
import { planValuesEdit } from '#operator/targets/values.ts';
import { systemClock } from '#platform/runtime/clock.ts';
import { Link } from '#platform/wire/link.ts';
import { costlyDocuments } from '../../../support/costly-documents.ts';

const program = new URL('../../../../src/bin/values-worker.ts', import.meta.url);
const task = (text: string, asked: TargetTask['wanted']): TargetTask => ({
  type: 'Values',
  text,
  wanted: asked,
});
const wanted = { enabled: true, version: 'v1' } as const;
const { signal } = new AbortController();
const open: TargetPlannerThread[] = [];

function planner(url = program): TargetPlannerThread {
  const made = createTargetPlanner(url, systemClock);
  open.push(made);
  return made;
}

afterEach(async () => {
  for (const made of open.splice(0)) await made.close();
});

test('a plan from the thread is the plan of its document, version, reference and link', async () => {
  const made = planner();
  const bundleUrl = Link.parse('https://storage.example.com/a.tgz?X-Sig=a%3Ab') ?? assert.fail();
  const copy = { digest: 'd', ref: 'oci://registry.example.com/docs/site@sha256:aa' };
  for (const asked of [
    wanted,
    { ...wanted, bundleUrl },
    { enabled: true, bundleUrl },
    { ...wanted, ...copy },
  ] as const) {
    for (const text of [
      'a: 1\n',
      'staticExport:\n  version: "v1"\n  enabled: true\n',
      '- a list\n',
      'a: [',
    ]) {
      assert.deepEqual(await made.plan('docs', task(text, asked), signal), planValuesEdit(text, asked));
    }
  }
});

test('every costly document is planned or refused, and the next one is planned', async () => {
  const made = planner();
  const outcomes: string[] = [];
  for (const [name, text] of Object.entries(costlyDocuments)) {
    const plan = await made.plan('hostile', task(text, wanted), signal);
    assert.ok(plan !== undefined, name);
    outcomes.push(`${name}: ${plan.outcome === 'refused' ? plan.code : plan.outcome}`);
    assert.deepEqual(
      await made.plan('served', task('staticExport: {enabled: true, version: "v1"}\n', wanted), signal),
      {
        outcome: 'in-sync',
      },
    );
  }
  assert.ok(outcomes.includes('questions in a flow map: TooLarge'), outcomes.join('\n'));
  assert.ok(outcomes.includes('ordinary values, 220 KiB: edit'), outcomes.join('\n'));
});

test('waiting documents of one namespace delay another by one document at most', async () => {
  const made = planner();
  const text = costlyDocuments['open brackets'] ?? '';
  const ended: string[] = [];
  const ask = (namespace: string, document: string) =>
    made.plan(namespace, task(document, wanted), signal).then(() => ended.push(namespace));
  await Promise.all([
    ask('hostile', text),
    ask('hostile', text),
    ask('hostile', text),
    ask('served', 'a: 1\n'),
  ]);
  assert.deepEqual(ended, ['hostile', 'hostile', 'served', 'hostile']);
});

test('a namespace with too many waiting documents gets no plan', async () => {
  const made = planner();
  const plans = Array.from({ length: 6 }, () => made.plan('docs', task('a: 1\n', wanted), signal));
  const outcomes = (await Promise.all(plans)).map((plan) => plan?.outcome);
  assert.deepEqual(outcomes, ['edit', 'edit', 'edit', 'edit', 'edit', undefined]);
});

test('a thread that cannot start is not a verdict on a document', async () => {
  const made = planner(new URL('../no-such-program.ts', import.meta.url));
  assert.equal(await made.plan('docs', task('a: 1\n', wanted), signal), undefined);
});

test('an aborted plan rejects with the reason of the signal', async () => {
  const stop = new AbortController();
  const asked = planner().plan('docs', task('a: 1\n', wanted), stop.signal);
  stop.abort(new Error('stopped'));
  await assert.rejects(asked, { message: 'stopped' });
});
