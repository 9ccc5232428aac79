import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  returnStart,
  type StartOrder,
  type StartsInMemory,
  startBudgetId,
  takeStart,
} from '#operator/loop/calls/start-times.ts';
import type { ExportCause } from '#operator/staticexport/status-schema.ts';
import { knownOf, startTimesIn } from '#operator/watch/known-resource.ts';
import type { StaticExportObject } from '#platform/wire/cluster.ts';

const now = Date.UTC(2026, 10, 29, 3);
const minuteMs = 60_000;
const order = (given: Partial<StartOrder> = {}): StartOrder => ({
  budget: 'docs/export-api/apiKey',
  resource: 'docs/one',
  own: [],
  known: new Map(),
  perHour: 3,
  cause: 'Request',
  now,
  ...given,
});
const emptyMemory = (): StartsInMemory => new Map();

test('resources of one key share its starts', () => {
  const memory = emptyMemory();
  for (const resource of ['docs/a', 'docs/b', 'docs/c'])
    assert.equal(takeStart(memory, order({ resource })).kind, 'taken');
  assert.deepEqual(takeStart(memory, order({ resource: 'docs/d', now: now + minuteMs })), {
    kind: 'delayed',
    delay: { code: 'StartBudgetUsed', until: now + 61 * minuteMs },
  });
});

test('another key has starts of its own', () => {
  const memory = emptyMemory();
  for (let count = 0; count < 3; count += 1) takeStart(memory, order({ resource: `docs/${count}` }));
  assert.equal(takeStart(memory, order({ budget: 'docs/other/apiKey' })).kind, 'taken');
});

test('a new process counts the starts that the statuses of others hold', () => {
  const known = new Map([
    ['docs/a', [now - 3 * minuteMs, now - 2 * minuteMs]],
    ['docs/b', [now - minuteMs]],
  ]);
  const taken = takeStart(emptyMemory(), order({ known }));
  assert.equal(taken.kind, 'delayed');
});

test('a start that memory and status both know counts once', () => {
  const memory = emptyMemory();
  takeStart(memory, order({ resource: 'docs/a' }));
  const known = new Map([['docs/a', [now]]]);
  takeStart(memory, order({ resource: 'docs/b', known }));
  assert.equal(takeStart(memory, order({ resource: 'docs/c', known })).kind, 'taken');
});

test('the status of the resource holds its own starts of the hour, latest last', () => {
  const taken = takeStart(
    emptyMemory(),
    order({
      own: [now - 70 * minuteMs, now - 5 * minuteMs],
      known: new Map([['docs/other', [now - minuteMs]]]),
    }),
  );
  assert.deepEqual(taken, { kind: 'taken', own: [now - 5 * minuteMs, now] });
});

test('a start whose record was not stored is given back', () => {
  const memory = emptyMemory();
  for (let count = 0; count < 5; count += 1) {
    assert.equal(takeStart(memory, order({ now: now + count * 1000 })).kind, 'taken');
    returnStart(memory, order({ now: now + count * 1000 }));
  }
});

test('an hour later, memory holds nothing of resources that are gone', () => {
  const memory = emptyMemory();
  takeStart(memory, order({ resource: 'docs/gone' }));
  takeStart(memory, order({ resource: 'docs/b', now: now + 62 * minuteMs }));
  assert.deepEqual([...(memory.get(order().budget)?.taken.keys() ?? [])], ['docs/b']);
});

test('a budget without starts and waits is forgotten', () => {
  const memory = emptyMemory();
  takeStart(memory, order({ budget: 'preview/export-api/apiKey' }));
  takeStart(memory, order({ now: now + 62 * minuteMs }));
  assert.deepEqual([...memory.keys()], [order().budget]);
});

/** Each resource comes back when it was told, and with its next cause as long after a start as it says. */
function play(hours: number, resources: Readonly<Record<string, readonly [ExportCause, againMs: number]>>) {
  const memory = emptyMemory();
  const due = new Map(Object.keys(resources).map((name) => [name, now]));
  const starts: { readonly name: string; readonly at: number }[] = [];
  const attempts = new Map<string, number>();
  for (;;) {
    const [first] = [...due].sort(([, a], [, b]) => a - b);
    if (first === undefined || first[1] > now + hours * 60 * minuteMs) return { starts, attempts };
    const [name, at] = first;
    const [cause, againMs] = resources[name] ?? ['First', minuteMs];
    attempts.set(name, (attempts.get(name) ?? 0) + 1);
    const taken = takeStart(memory, order({ resource: name, cause, perHour: 10, now: at }));
    if (taken.kind === 'taken') starts.push({ name, at });
    due.set(name, taken.kind === 'taken' ? at + againMs : taken.delay.until);
  }
}

test('exports that fail all the time leave their turns to a scheduled one', () => {
  const failing = Object.fromEntries(
    Array.from({ length: 12 }, (_, at) => [`docs/failing-${at}`, ['First', 2 * minuteMs]] as const),
  );
  const { starts } = play(24, { ...failing, 'docs/nightly': ['Schedule', 60 * minuteMs] });
  const nightly = starts.filter(({ name }) => name === 'docs/nightly').length;
  assert.ok(nightly >= 10, `${nightly} of the scheduled export in a day`);
});

test('forty schedules of one minute: each starts once in five hours, and few attempts are made in vain', () => {
  const sites = Object.fromEntries(
    Array.from({ length: 40 }, (_, at) => [`docs/site-${at}`, ['Schedule', 24 * 60 * minuteMs]] as const),
  );
  const { starts, attempts } = play(5, sites);
  assert.equal(new Set(starts.map(({ name }) => name)).size, 40);
  assert.ok(Math.max(...attempts.values()) <= 3, `${Math.max(...attempts.values())} attempts`);
});

test('a person starts at once while forty resources wait', () => {
  const memory = emptyMemory();
  for (let count = 0; count < 40; count += 1)
    takeStart(memory, order({ resource: `docs/${count}`, cause: 'First', perHour: 10 }));
  assert.equal(takeStart(memory, order({ resource: 'docs/mine', perHour: 10 })).kind, 'taken');
});

test('a resource that no longer comes for its turn holds up the next one for two minutes at most', () => {
  const memory = emptyMemory();
  const first = (resource: string, minutes: number) =>
    order({ resource, cause: 'First', perHour: 1, now: now + minutes * minuteMs });
  takeStart(memory, first('docs/sent', 0));
  takeStart(memory, first('docs/gone', 1));
  assert.equal(takeStart(memory, first('docs/next', 62)).kind, 'delayed');
  assert.equal(takeStart(memory, first('docs/next', 64)).kind, 'taken');
});

const stored = (name: string, api: object, startTimes: unknown): StaticExportObject => ({
  metadata: {
    namespace: 'docs',
    name,
    uid: name,
    resourceVersion: '1',
    annotations: {},
    labels: {},
    ownerReferences: [],
  },
  spec: { api },
  status: { startTimes },
});

test('the watch finds the starts of a key, whatever is stored', () => {
  const key = { keySecretRef: { name: 'export-api' } };
  const objects = [
    stored('project', { ...key, projectId: 'p1' }, ['2026-11-29T02:59:00Z']),
    stored('named-key', { keySecretRef: { name: 'export-api', key: 'other' }, projectId: 'p1' }, [
      '2026-11-29T02:58:00Z',
    ]),
    stored('domain', key, ['2026-11-29T02:57:00Z']),
    stored('strange', { ...key, projectId: 'p1' }, [7, 'yesterday', null]),
    stored('strange-too', { ...key, projectId: 'p1' }, { length: 3 }),
  ];
  const known = objects.map((one) => [`docs/${one.metadata.name}`, knownOf(one)] as const);
  const budget = startBudgetId({ namespace: 'docs' }, { keySecret: { name: 'export-api', key: 'apiKey' } });
  assert.deepEqual([...startTimesIn(known, budget)], [['docs/project', [now - minuteMs]]]);
});
