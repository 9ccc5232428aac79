// Plans of targets' edits that take longer than a reconcile waits: the status says so, nothing else waits for them,
// their end brings the reconcile that writes, and an unchanged document is read once.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TargetPlanner } from '#operator/loop/ports.ts';
import { planTarget, type TargetPlan, type TargetTask } from '#operator/targets/target-plan.ts';
import { Simulation } from '../../../../simulation/simulation.ts';

const consent = { 'staticexport.dev/allow-from': 'docs/site' };
const document = (name: string) => ({ namespace: 'apps', name });
const target = (name: string) => ({
  name,
  type: 'Values',
  values: { kind: 'ConfigMap', namespace: 'apps', name },
});
const text = '# ours\nreplicas: 2\n';

/** A planner that the test controls: each plan waits until it is released. */
class HeldPlanner implements TargetPlanner {
  readonly asked: {
    readonly text: string;
    readonly release: (plan?: TargetPlan) => void;
    isStopped: boolean;
  }[] = [];

  plan(_namespace: string, task: TargetTask, signal: AbortSignal) {
    return new Promise<TargetPlan | undefined>((resolve, reject) => {
      const entry = {
        text: task.text,
        release: (plan: TargetPlan | undefined = planTarget(task)) => resolve(plan),
        isStopped: false,
      };
      this.asked.push(entry);
      signal.addEventListener('abort', () => {
        entry.isStopped = true;
        reject(signal.reason);
      });
    });
  }
}

async function publishedSimulation(
  names: readonly string[],
): Promise<{ simulation: Simulation; planner: HeldPlanner }> {
  const planner = new HeldPlanner();
  const simulation = new Simulation({
    spec: { targets: names.map(target) },
    bend: (context) => ({ ...context, planner }),
  });
  for (const name of names) simulation.cluster.putConfigMap(document(name), { 'values.yaml': text }, consent);
  await simulation.until(() => simulation.condition('Exported') === 'True/Promoted');
  return { simulation, planner };
}

const textIn = (simulation: Simulation, name: string): string | undefined =>
  simulation.cluster.configMaps.get(`apps/${name}`)?.data['values.yaml'];
const stateOf = (simulation: Simulation): string | undefined => simulation.condition('TargetsSynced');

test('a slow plan leaves the resource Ready, and its end starts the reconcile that writes', async () => {
  const { simulation, planner } = await publishedSimulation(['slow']);
  assert.equal(stateOf(simulation), 'Unknown/Pending');
  assert.equal(simulation.condition('Ready'), 'True/Published');
  await simulation.run(5 * 60_000);
  assert.equal(stateOf(simulation), 'Unknown/Pending');
  assert.equal(planner.asked.length, 1, 'the same document is asked about once');
  planner.asked[0]?.release();
  await simulation.until(() => stateOf(simulation) !== 'Unknown/Pending');
  assert.match(textIn(simulation, 'slow') ?? '', /^# ours\nreplicas: 2\nstaticExport:\n {2}enabled: true\n/);
});

test('a link is refreshed during a slow plan', async () => {
  const { simulation } = await publishedSimulation(['slow']);
  const link = simulation.output()?.['bundleUrl'];
  await simulation.run(3 * 60 * 60_000);
  assert.notEqual(simulation.output()?.['bundleUrl'], link);
  assert.equal(simulation.condition('LinkFresh'), 'True/Fresh');
  assert.equal(stateOf(simulation), 'Unknown/Pending');
});

test('a resource has one running plan at a time, and each target is written in order', async () => {
  const names = ['one', 'two', 'three'];
  const { simulation, planner } = await publishedSimulation(names);
  for (let at = 0; stateOf(simulation) !== 'True/Synced'; at += 1) {
    await simulation.until(() => stateOf(simulation) === 'True/Synced' || planner.asked.length > at);
    assert.ok(planner.asked.length <= at + 1, 'a second plan was asked for before the first one ended');
    planner.asked[at]?.release();
  }
  for (const name of names) assert.match(textIn(simulation, name) ?? '', /staticExport:/);
});

test('a slow API server does not shorten the wait for plans, and stops no plan', async () => {
  const simulation = new Simulation({
    spec: { targets: ['one', 'two', 'three'].map(target) },
    bend: (context, { clock }) => ({
      ...context,
      cluster: {
        ...context.cluster,
        readConfigMap: async (key, signal) => {
          await clock.after(1500, signal);
          return context.cluster.readConfigMap(key, signal);
        },
      },
    }),
  });
  for (const name of ['one', 'two', 'three']) {
    simulation.cluster.putConfigMap(document(name), { 'values.yaml': text }, consent);
  }
  await simulation.until(() => simulation.condition('Exported') === 'True/Promoted');
  assert.equal(stateOf(simulation), 'True/Synced');
});

test('a document that changes during its plan is planned again, and the first plan is stopped', async () => {
  const { simulation, planner } = await publishedSimulation(['slow']);
  simulation.cluster.putConfigMap(document('slow'), { 'values.yaml': 'other: 1\n' }, consent);
  await simulation.until(() => planner.asked.length === 2);
  assert.equal(planner.asked[0]?.isStopped, true);
  planner.asked[1]?.release();
  await simulation.until(() => stateOf(simulation) !== 'Unknown/Pending');
  assert.match(textIn(simulation, 'slow') ?? '', /^other: 1\nstaticExport:/);
});

test('a refused document is planned once until it changes', async () => {
  const { simulation, planner } = await publishedSimulation(['slow']);
  const refusal = { outcome: 'refused', code: 'TooSlow', message: 'reading it took too long' } as const;
  planner.asked[0]?.release(refusal);
  await simulation.until(() => stateOf(simulation) === 'False/Refused');
  await simulation.run(30 * 60_000);
  assert.equal(planner.asked.length, 1);
  simulation.cluster.putConfigMap(document('slow'), { 'values.yaml': 'a: 1\n' }, consent);
  await simulation.until(() => planner.asked.length === 2);
});

test('when too many documents of the namespace wait, the plan is requested again later', async () => {
  const { simulation, planner } = await publishedSimulation(['slow']);
  const release = planner.asked[0]?.release;
  assert.ok(release);
  // The planner's answer: no plan, and no refusal of the document.
  planner.plan = async () => undefined;
  let asked = 0;
  release({ outcome: 'in-sync' });
  await simulation.until(() => stateOf(simulation) === 'True/Synced');
  simulation.cluster.putConfigMap(document('slow'), { 'values.yaml': 'a: 1\n' }, consent);
  planner.plan = async (_namespace, task) => {
    asked += 1;
    return asked < 3 ? undefined : planTarget(task);
  };
  await simulation.until(() => textIn(simulation, 'slow')?.includes('staticExport:') === true, 70 * 60_000);
  assert.equal(asked >= 3, true);
});

test('a removed target, a suspended resource and a deleted resource stop their plans', async () => {
  const gone = await publishedSimulation(['slow']);
  gone.simulation.editSpec({ targets: [] });
  await gone.simulation.step();
  assert.equal(gone.planner.asked[0]?.isStopped, true);
  const suspended = await publishedSimulation(['slow']);
  suspended.simulation.editSpec({ suspend: true });
  await suspended.simulation.step();
  assert.equal(suspended.planner.asked[0]?.isStopped, true);
  const deleted = await publishedSimulation(['slow']);
  deleted.simulation.cluster.remove({ namespace: 'docs', name: 'site' });
  await deleted.simulation.step();
  assert.equal(deleted.planner.asked[0]?.isStopped, true);
  assert.equal(deleted.simulation.memory().plans.size, 0);
});

test('a synced target stays synced while its document is planned again', async () => {
  const { simulation, planner } = await publishedSimulation(['slow']);
  planner.asked[0]?.release({ outcome: 'in-sync' });
  await simulation.until(() => stateOf(simulation) === 'True/Synced');
  simulation.cluster.putConfigMap(document('slow'), { 'values.yaml': 'a: 1\n' }, consent);
  await simulation.until(() => planner.asked.length === 2, 70 * 60_000);
  assert.equal(stateOf(simulation), 'True/Synced');
});

test('a kept plan holds no document, because a target that does not change keeps its plan', async () => {
  const { simulation, planner } = await publishedSimulation(['a']);
  for (const { release } of planner.asked) release();
  await simulation.until(() => stateOf(simulation) === 'True/Synced');
  simulation.prompt();
  await simulation.step();
  for (const { release } of planner.asked) release();
  await simulation.step();
  const plans = [...simulation.memory().plans.values()].flatMap((one) => [...one.values()]);
  assert.equal(plans.length, 1);
  assert.equal(JSON.stringify(plans).includes('replicas'), false);
});
