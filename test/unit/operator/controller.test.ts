// How passes are run: workers, deadlines, retries, the hourly look, and what is logged once.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PassOutcome } from '../../../src/loop/edge.ts';
import { PassRefused } from '../../../src/loop/refused-pass.ts';
import {
  type ControllerOptions,
  type FailedPass,
  type PassResult,
  runController,
} from '../../../src/operator/controller.ts';
import { WorkQueue } from '../../../src/operator/work-queue.ts';
import type { Logger } from '../../../src/runtime/logger.ts';
import { ClusterError } from '../../../src/wire/cluster-error.ts';
import { type SteppedClock, settle, steppedClock } from '../../support/stepped-clock.ts';

type Pass = ControllerOptions['pass'];

function start(pass: Pass, more: Partial<ControllerOptions> = {}) {
  const clock = steppedClock();
  const queue = new WorkQueue(clock);
  const results: PassResult[] = [];
  const warnings: object[] = [];
  const logger: Logger = {
    debug: () => {},
    info: () => {},
    warn: (fields) => warnings.push(fields),
    error: () => {},
    child: () => logger,
  };
  const work = new AbortController();
  const running = runController(
    {
      queue,
      pass,
      workers: 2,
      passTimeoutMs: 60_000,
      fullLookMs: 3_600_000,
      lifeLeftMs: () => undefined,
      clock,
      random: { uuid: () => '', bytes: () => new Uint8Array(), fraction: () => 0.5 },
      logger,
      observe: (_key, result) => results.push(result),
      ...more,
    },
    work.signal,
  );
  return { clock, queue, results, warnings, work, running };
}

const outcome = (wakeAfterMs: number | undefined): PassOutcome => ({
  wakeAfterMs,
  because: 'x',
  observed: undefined,
});

test('the next look is when the pass said', async () => {
  let passes = 0;
  const { clock, queue } = start(async () => {
    passes += 1;
    return outcome(10_000);
  });
  queue.add('ns/a');
  await clock.pass(9_999);
  assert.equal(passes, 1);
  await clock.pass(1);
  assert.equal(passes, 2);
});

test('every resource is looked at once an hour, whatever its pass said', async () => {
  let passes = 0;
  const { clock, queue } = start(async () => {
    passes += 1;
    return outcome(90 * 86_400_000);
  });
  queue.add('ns/a');
  await clock.pass(3_600_000);
  assert.equal(passes, 2);
});

test('no chance brings a look forward that a pass has spread already', async () => {
  let passes = 0;
  const { clock, queue } = start(
    async () => {
      passes += 1;
      return outcome(59 * 60_000);
    },
    { random: { uuid: () => '', bytes: () => new Uint8Array(), fraction: () => 0 } },
  );
  queue.add('ns/a');
  await clock.pass(59 * 60_000 - 1);
  assert.equal(passes, 1);
});

test('a resource that is gone is not looked at again', async () => {
  let passes = 0;
  const { clock, queue, results } = start(async () => {
    passes += 1;
    return outcome(undefined);
  });
  queue.add('ns/a');
  await clock.pass(7_200_000);
  assert.equal(passes, 1);
  assert.deepEqual(results, ['gone']);
});

test('failures back off exponentially up to five minutes, and a success forgets them', async () => {
  const at: number[] = [];
  let isBroken = true;
  const { clock, queue, warnings } = start(async () => {
    at.push(clock.monotonic());
    if (isBroken) throw new ClusterError('Unavailable', 'down');
    return outcome(60_000);
  });
  queue.add('ns/a');
  await clock.pass(20 * 60_000);
  const gaps = at.slice(1).map((time, index) => time - (at[index] ?? 0));
  assert.deepEqual(gaps.slice(0, 5), [500, 1_000, 2_000, 4_000, 8_000]);
  assert.equal(Math.max(...gaps), 300_000);
  assert.equal(warnings.length, at.length);
  isBroken = false;
  await clock.pass(300_000);
  isBroken = true;
  at.length = 0;
  await clock.pass(60_500);
  assert.equal((at[1] ?? 0) - (at[0] ?? 0), 500, 'the first retry after a success is soon');
});

test('a link that still lives is never left to more than a quarter of its life by the back-off', async () => {
  const at: number[] = [];
  const diesAt = 1_000 + 3_600_000;
  let clock: SteppedClock | undefined;
  const world = start(
    async () => {
      at.push(world.clock.monotonic());
      throw new ClusterError('Unavailable', 'down');
    },
    { lifeLeftMs: () => diesAt - (clock?.monotonic() ?? 0) },
  );
  clock = world.clock;
  world.queue.add('ns/a');
  await clock.pass(3_600_000);
  const waits = at.slice(1).map((time, index) => ({ from: at[index] ?? 0, ms: time - (at[index] ?? 0) }));
  assert.equal(Math.max(...waits.map(({ ms }) => ms)), 300_000);
  for (const { from, ms } of waits)
    assert.ok(ms <= Math.max(500, Math.ceil((diesAt - from) / 4)), `${ms} at ${from}`);
  at.length = 0;
  await clock.pass(1_200_000);
  assert.ok(at.length <= 12, `${at.length} tries after its death`);
});

const sights = {
  isReady: true,
  isSuspended: false,
  exportState: 'x',
  linkState: 'x',
  wantState: 'x',
  action: 'mint',
  linkIssuedAt: undefined,
  nextRefreshAt: undefined,
  nextExportAt: undefined,
  failure: undefined,
  blockedBy: undefined,
};

test('quick tries before a link died make no long wait after it', async () => {
  const at: number[] = [];
  let clock: SteppedClock | undefined;
  const began = steppedClock().monotonic();
  const world = start(
    async () => {
      at.push(world.clock.monotonic());
      throw new ClusterError('Forbidden', 'no');
    },
    { lifeLeftMs: () => began + 8_000 - (clock?.monotonic() ?? 0) },
  );
  clock = world.clock;
  world.queue.add('ns/a');
  await clock.pass(60_000);
  const first = at[0] ?? 0;
  for (const [index, time] of at.slice(1).entries())
    assert.ok(time - (at[index] ?? 0) <= 500 + (at[index] ?? 0) - first, `${time - first}`);
  assert.ok(at.length > 10, 'no quick tries');
});

test('failed passes are told with their number; one that was only overtaken is not, before the fifth', async () => {
  const told: (FailedPass | undefined)[] = [];
  const errors = ['Unavailable', 'Conflict', 'Forbidden', 'Conflict', 'Conflict'] as const;
  let passes = 0;
  const { clock, queue } = start(
    async () => {
      const code = errors[passes];
      passes += 1;
      if (code !== undefined) throw new ClusterError(code, 'no');
      return outcome(undefined);
    },
    { observe: (_key, _result, _tookMs, _outcome, failed) => told.push(failed) },
  );
  queue.add('ns/a');
  await clock.pass(60_000);
  assert.deepEqual(
    told.map((one) => one && [one.inARow, one.code]),
    [[1, 'Unavailable'], undefined, [3, 'Forbidden'], undefined, [5, 'Conflict'], undefined],
  );
});

test('a pass that was refused its status tells what it saw, and comes again by the life of that link', async () => {
  const at: number[] = [];
  const told: (FailedPass | undefined)[] = [];
  const lifeMs = 900_000;
  const { clock, queue } = start(
    async () => {
      at.push(clock.monotonic());
      const observed = { ...sights, linkExpiresAt: clock.now() + lifeMs };
      throw new PassRefused(new ClusterError('Forbidden', 'no'), observed);
    },
    // What status says is old.
    { lifeLeftMs: () => -1, observe: (_key, _result, _tookMs, _outcome, failed) => told.push(failed) },
  );
  queue.add('ns/a');
  await clock.pass(3_600_000);
  assert.ok(told.every((one) => one?.observed?.isReady === true));
  const waits = at.slice(1).map((time, index) => time - (at[index] ?? 0));
  assert.equal(Math.max(...waits), lifeMs / 4);
});

test('what keeps a pass from doing anything is a warning once, with its words, until it is another', async () => {
  const lines: unknown[] = [];
  const logger: Logger = {
    debug: () => {},
    info: () => {},
    warn: (fields, message) => lines.push([message, 'why' in fields ? fields.why : '']),
    error: () => {},
    child: () => logger,
  };
  const unread = {
    ...sights,
    action: 'none',
    linkExpiresAt: undefined,
    failure: 'OutputUnreadable',
    why: 'no get',
  };
  const steps = [unread, unread, { ...unread, failure: undefined }, unread];
  const { clock, queue } = start(
    async () => {
      const observed = steps.shift();
      return { wakeAfterMs: observed && 10, because: 'x', observed };
    },
    { logger },
  );
  queue.add('ns/a');
  await clock.pass(100);
  const once = ['nothing can be done', 'no get'];
  assert.deepEqual(lines, [once, once]);
});

test('a conflict is tried again at once and is no warning', async () => {
  let passes = 0;
  const { clock, queue, results, warnings } = start(async () => {
    passes += 1;
    if (passes < 3) throw new ClusterError('Conflict', 'changed');
    return outcome(undefined);
  });
  queue.add('ns/a');
  await clock.pass(250);
  assert.deepEqual(results, ['conflict', 'conflict', 'gone']);
  assert.deepEqual(warnings, []);
});

test('what the server asks to wait is waited', async () => {
  let passes = 0;
  const { clock, queue } = start(async () => {
    passes += 1;
    throw new ClusterError('TooManyRequests', 'slow down', { retryAfterMs: 30_000 });
  });
  queue.add('ns/a');
  await clock.pass(29_999);
  assert.equal(passes, 1);
  await clock.pass(1);
  assert.equal(passes, 2);
});

test('a pass that does not end is aborted at its deadline and tried again', async () => {
  let passes = 0;
  const { clock, queue, results } = start((_key, signal) => {
    passes += 1;
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
    });
  });
  queue.add('ns/a');
  await clock.pass(60_500);
  assert.equal(passes, 2);
  assert.deepEqual(results, ['timeout']);
});

test('one resource that hangs does not hold up the others', async () => {
  const done: string[] = [];
  const { clock, queue } = start(({ name }) => {
    if (name === 'stuck') return new Promise(() => {});
    done.push(name);
    return Promise.resolve(outcome(undefined));
  });
  for (const name of ['stuck', 'a', 'b', 'c']) queue.add(`ns/${name}`);
  await clock.pass(1);
  assert.deepEqual(done, ['a', 'b', 'c']);
});

test('closing the queue ends it once the passes under way have ended, and an abort ends those', async () => {
  const { queue, running, work, results } = start((_key, signal) => {
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
    });
  });
  queue.add('ns/a');
  await settle();
  queue.close();
  let hasEnded = false;
  void running.then(() => {
    hasEnded = true;
  });
  await settle();
  assert.equal(hasEnded, false);
  work.abort();
  await running;
  assert.deepEqual(results, []);
});

test('a pass that came to its end is a line for debugging only: what it did it tells itself', async () => {
  const lines: string[] = [];
  const logger: Logger = {
    debug: (_fields, message) => lines.push(`debug ${message}`),
    info: (_fields, message) => lines.push(`info ${message}`),
    warn: (_fields, message) => lines.push(`warn ${message}`),
    error: () => {},
    child: () => logger,
  };
  const steps = [
    { action: 'none', failure: undefined },
    { action: 'poll', failure: undefined },
    { action: 'mint', failure: undefined },
    { action: 'poll', failure: 'NetworkError' },
  ];
  const observed = {
    isReady: false,
    isSuspended: false,
    exportState: 'x',
    linkState: 'x',
    wantState: 'x',
    linkExpiresAt: undefined,
    linkIssuedAt: undefined,
    nextRefreshAt: undefined,
    nextExportAt: undefined,
    blockedBy: undefined,
  };
  const { clock, queue } = start(
    async () => {
      const step = steps.shift();
      return step === undefined
        ? outcome(undefined)
        : { wakeAfterMs: 10, because: 'x', observed: { ...observed, ...step } };
    },
    { logger },
  );
  queue.add('ns/a');
  await clock.pass(100);
  assert.deepEqual([...new Set(lines)], ['debug pass']);
});

test('a pass that asks for the next one at once for ever is slowed to one a minute, said once, and holds nobody up', async () => {
  const counts = { hot: 0, cold: 0 };
  const { clock, queue, warnings } = start(
    async ({ name }) => {
      counts[name === 'hot' ? 'hot' : 'cold'] += 1;
      return outcome(name === 'hot' ? 0 : 10_000);
    },
    { workers: 1 },
  );
  queue.add('ns/hot');
  queue.add('ns/cold');
  await clock.pass(1);
  assert.deepEqual(counts, { hot: 21, cold: 1 });
  await clock.pass(600_000);
  const early = counts.hot;
  assert.ok(early <= 21 + 6 + 10, `${early} passes`);
  await clock.pass(600_000);
  assert.equal(counts.hot - early, 10, 'one a minute');
  assert.equal(counts.cold, 121);
  assert.equal(warnings.length, 1);
  queue.add('ns/hot');
  await clock.pass(1);
  assert.equal(counts.hot - early, 11, 'an edit is not slowed');
});

test('a pass that asks for the next one within the second is no better; one that waits is forgiven', async () => {
  let passes = 0;
  let waitMs = 1;
  const { clock, queue, warnings } = start(async () => {
    passes += 1;
    return outcome(waitMs);
  });
  queue.add('ns/a');
  await clock.pass(300_000);
  assert.ok(passes < 40, `${passes} passes`);
  waitMs = 1000;
  await clock.pass(60_000);
  waitMs = 0;
  const before = passes;
  await clock.pass(1000);
  assert.ok(passes - before >= 20, `${passes - before} passes`);
  assert.equal(warnings.length, 2);
});

test('the passes of a finished export follow each other without a pause', async () => {
  const at: number[] = [];
  const { clock, queue, warnings } = start(async () => {
    at.push(clock.monotonic());
    return outcome(at.length < 12 ? 0 : undefined);
  });
  queue.add('ns/a');
  await clock.pass(10);
  assert.equal(at.length, 12);
  assert.equal(new Set(at).size, 1);
  assert.deepEqual(warnings, []);
});
