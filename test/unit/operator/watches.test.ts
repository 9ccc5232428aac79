// Several namespaces as one: synced only when all are, an outage said once when it begins and once when it ends.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Transport } from '../../../src/kube/transport.ts';
import { createWatches } from '../../../src/operator/watches.ts';
import type { Logger } from '../../../src/runtime/logger.ts';
import { ClusterError } from '../../../src/wire/cluster-error.ts';
import { steppedClock } from '../../support/stepped-clock.ts';

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
  const transport: Transport = {
    call: async ({ address: { namespace = 'all' } }) => {
      if (forbidden.has(namespace)) throw new ClusterError('Forbidden', `may not list in ${namespace}`);
      const metadata = { namespace, name: 'docs', uid: namespace, resourceVersion: '1' };
      return { metadata: { resourceVersion: '1' }, items: [{ metadata, status: { active: {} } }] };
    },
    stream: async (_call, signal) =>
      (async function* () {
        for (const event of events) yield new TextEncoder().encode(`${JSON.stringify(event)}\n`);
        await new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
        });
        yield new Uint8Array();
      })(),
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
    installation: 'operators/own',
    contested: (key) => contests.push(key),
  });
  const stop = new AbortController();
  const running = watches.run(stop.signal);
  return { clock, lines, events, forbidden, wakes, contests, watches, stop, running };
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

test('one namespace that may not be listed keeps all from being synced, and is named once', async () => {
  const { clock, lines, forbidden, watches, stop, running } = start(['a', 'b'], 'b');
  await clock.pass(20_000);
  assert.equal(watches.isSynced(), false);
  assert.equal(watches.trouble(), 'may not list in b');
  assert.equal(watches.silenceMs(), Number.POSITIVE_INFINITY);
  forbidden.clear();
  await clock.pass(40_000);
  assert.equal(watches.isSynced(), true);
  assert.equal(watches.trouble(), undefined);
  assert.deepEqual(lines, [
    'warn the watch of StaticExports is interrupted; trying again',
    'info StaticExports are watched again',
  ]);
  stop.abort();
  await running;
});

for (const [whose, resourceVersion, installation, contested] of [
  ['another installation', '2', 'elsewhere/operator', ['a/docs']],
  ['this one', '2', 'operators/own', []],
  ['an older version, which names nobody,', '2', undefined, []],
  ['another installation, seen already,', '1', 'elsewhere/operator', []],
] as const) {
  test(`a status by ${whose} ${contested.length > 0 ? 'is' : 'is not'} told, and wakes nobody by itself`, async () => {
    const { clock, events, contests, wakes, stop, running } = start(['a']);
    const metadata = { namespace: 'a', name: 'docs', uid: 'a', resourceVersion };
    events.push({ type: 'MODIFIED', object: { metadata, status: { installation } } });
    await clock.pass(1);
    assert.deepEqual(contests, contested);
    assert.deepEqual(wakes, ['a/docs'], 'the first list');
    stop.abort();
    await running;
  });
}
