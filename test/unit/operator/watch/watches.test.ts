// Several namespaces as one: synced when each is listed or refused, ready as long as any can be watched, an outage said
// once when it begins and once when it ends.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readinessOf } from '#operator/health.ts';
import type { Transport } from '#operator/kube/transport/transport.ts';
import { createWatches } from '#operator/watch/watches.ts';
import type { Logger } from '#platform/runtime/logger.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import { steppedClock } from '../../../support/stepped-clock.ts';

function start(namespaces: readonly string[], ...refused: readonly string[]) {
  const clock = steppedClock();
  /** What each stream brings when it opens. */
  const events: object[] = [];
  const lines: string[] = [];
  const logger: Logger = {
    debug: () => {},
    info: (_fields, message) => lines.push(`info ${message}`),
    warn: (_fields, message) => lines.push(`warn ${message}`),
    error: () => {},
    child: () => logger,
  };
  const forbidden = new Set<string>(refused);
  /** What each request asks for. */
  const selected: string[] = [];
  /** Does not answer. */
  const down = new Set<string>();
  const admit = (verb: string, namespace: string): void => {
    if (down.has(namespace)) throw new ClusterError('Unavailable', `timeout in ${namespace}`);
    if (forbidden.has(namespace)) throw new ClusterError('Forbidden', `may not ${verb} in ${namespace}`);
  };
  const transport: Transport = {
    call: async ({ address: { namespace = 'all' }, query }) => {
      selected.push(`list ${query?.['labelSelector']}`);
      admit('list', namespace);
      const metadata = { namespace, name: 'docs', uid: namespace, resourceVersion: '1' };
      return { metadata: { resourceVersion: '1' }, items: [{ metadata, status: { active: {} } }] };
    },
    stream: async ({ address: { namespace = 'all' }, query }, signal) => {
      selected.push(`watch ${query?.['labelSelector']}`);
      admit('watch', namespace);
      return (async function* () {
        for (const event of events) yield Buffer.from(`${JSON.stringify(event)}\n`);
        for (let minute = 0; minute < 5; minute += 1) {
          await clock.after(60_000, signal);
          yield Buffer.from('{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"1"}}}\n');
        }
      })();
    },
    close: async () => {},
  };
  const wakes: string[] = [];
  const contests: string[] = [];
  const random = { uuid: () => '', bytes: () => new Uint8Array(), fraction: () => 0.5 };
  const watches = createWatches({
    transport,
    namespaces,
    labelSelector: '!staticexport.dev/instance',
    clock,
    random,
    logger,
    wake: (key) => wakes.push(key),
    operatorLease: 'operators/own',
    onOverlap: (key) => contests.push(key),
  });
  const stop = new AbortController();
  const running = watches.run(stop.signal);
  const ready = readinessOf(watches, new AbortController().signal);
  return { clock, lines, events, forbidden, down, selected, wakes, contests, watches, ready, stop, running };
}

test('without namespaces there is one watch across the cluster, with names twice there is one each', async () => {
  for (const [namespaces, keys] of [
    [[], ['all/docs']],
    [
      ['a', 'b', 'a'],
      ['a/docs', 'b/docs'],
    ],
  ] as const) {
    const { clock, watches, wakes, stop, running } = start(namespaces);
    await clock.pass(1);
    assert.deepEqual([...wakes].sort(), keys);
    assert.equal(watches.figures().objects, keys.length);
    assert.ok(watches.get(keys[0]));
    stop.abort();
    await running;
  }
});

test('lists, audits and watches select the resources of this operator only', async () => {
  const { clock, selected, stop, running } = start([]);
  await clock.pass(40 * 60_000);
  const ours = '!staticexport.dev/instance';
  assert.deepEqual(new Set(selected), new Set([`list ${ours}`, `watch ${ours}`]));
  stop.abort();
  await running;
});

test('a namespace refused from the start does not delay readiness of others, is logged once and counted', async () => {
  const { clock, lines, forbidden, watches, ready, stop, running } = start(['a', 'b'], 'b');
  assert.match(ready() ?? '', /first list/);
  await clock.pass(20 * 60_000);
  assert.equal(ready(), undefined);
  assert.equal(watches.outage(), 'may not list in b');
  assert.ok(watches.silenceMs() <= 60_000, `${watches.silenceMs()} ms`);
  assert.deepEqual(watches.figures().namespaces, [
    { namespace: 'a', isRefused: false },
    { namespace: 'b', isRefused: true },
  ]);
  forbidden.clear();
  await clock.pass(40_000);
  assert.equal(watches.figures().objects, 2);
  assert.equal(watches.outage(), undefined);
  assert.ok(watches.figures().namespaces.every(({ isRefused }) => !isRefused));
  assert.deepEqual(lines, ['warn cannot watch StaticExports; retrying', 'info watching StaticExports again']);
  stop.abort();
  await running;
});

test('a namespace deleted at run time leaves the others ready', async () => {
  const { clock, lines, forbidden, ready, stop, running } = start(['a', 'b', 'c']);
  await clock.pass(120_000);
  forbidden.add('b');
  await clock.pass(60 * 60_000);
  assert.equal(ready(), undefined);
  assert.equal(lines.length, 1);
  stop.abort();
  await running;
});

for (const [name, namespaces] of [
  ['a watch across the cluster', []],
  ['every one of the namespaces', ['a', 'b']],
] as const) {
  test(`${name} that is refused is not ready, with a message that names what is missing`, async () => {
    const { clock, forbidden, ready, watches, stop, running } = start(namespaces, 'all', 'a', 'b');
    await clock.pass(20_000);
    assert.match(ready() ?? '', /^StaticExports cannot be watched: may not list in (all|a)$/);
    assert.equal(watches.isSynced(), false);
    forbidden.clear();
    await clock.pass(40_000);
    assert.equal(ready(), undefined);
    // Lists go on being answered where only the verb "watch" is taken away.
    for (const namespace of ['all', 'a', 'b']) forbidden.add(namespace);
    await clock.pass(10 * 60_000);
    assert.match(ready() ?? '', /^StaticExports cannot be watched: may not (list|watch) in (all|a)$/);
    stop.abort();
    await running;
  });
}

test('a namespace that does not answer keeps readiness false next to a refused one, and is named first', async () => {
  const { clock, down, ready, watches, stop, running } = start(['a', 'b'], 'a');
  await clock.pass(60_000);
  down.add('b');
  await clock.pass(10 * 60_000);
  assert.match(ready() ?? '', /^StaticExports have not been watched for \d+ s: timeout in b$/);
  down.clear();
  await clock.pass(100_000);
  assert.equal(ready(), undefined);
  assert.equal(watches.figures().namespaces.length, 2);
  stop.abort();
  await running;
});

test('the audit time is that of the namespace with the oldest audit', async () => {
  const { clock, forbidden, watches, stop, running } = start(['a', 'b'], 'b');
  assert.equal(watches.figures().auditedAt, undefined);
  const startedAt = clock.now();
  await clock.pass(60_000);
  assert.equal(watches.figures().auditedAt, startedAt);
  forbidden.clear();
  await clock.pass(22 * 60_000);
  const { auditedAt = 0 } = watches.figures();
  assert.ok(auditedAt > startedAt && auditedAt < clock.now(), `${auditedAt - startedAt}`);
  stop.abort();
  await running;
});

for (const [whose, resourceVersion, operatorLease, contested] of [
  ['another operator', '2', 'elsewhere/operator', ['a/docs']],
  ['this one', '2', 'operators/own', []],
  ['an older version, which names nobody,', '2', undefined, []],
  ['another operator, seen already,', '1', 'elsewhere/operator', []],
] as const) {
  test(`a status by ${whose} ${contested.length > 0 ? 'is' : 'is not'} an overlap, and queues no key`, async () => {
    const { clock, events, contests, wakes, stop, running } = start(['a']);
    const metadata = { namespace: 'a', name: 'docs', uid: 'a', resourceVersion };
    events.push({ type: 'MODIFIED', object: { metadata, status: { operatorLease } } });
    await clock.pass(1);
    assert.deepEqual(contests, contested);
    assert.deepEqual(wakes, ['a/docs'], 'the first list');
    stop.abort();
    await running;
  });
}
