// The record of what is served, on a disk that refuses it for a while.

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { silentLogger } from '#platform/runtime/logger.ts';
import { goLive } from '#server/content/live-bundle.ts';
import { createLiveSite, type LiveSite } from '#server/content/live-site.ts';
import { createRoutesAhead } from '#server/content/routes-ahead.ts';
import { createServedRecord, type ServedRecord } from '#server/source/served-record.ts';
import { storedBundle } from '../fixtures.ts';
import { type ManualClock, manualClock } from '../manual-clock.ts';

let clock: ManualClock;
let site: LiveSite;
let log: string[];
let refusals: Record<'activate' | 'sweep', boolean>;
let writes: number;
let record: ServedRecord;

beforeEach(() => {
  clock = manualClock(0);
  site = createLiveSite(2);
  log = [];
  refusals = { activate: false, sweep: false };
  writes = 0;
  const store = {
    activate: async (_digest: string, { version }: { readonly version: string | undefined }) => {
      writes += 1;
      if (refusals.activate) throw new Error('no room');
      log.push(`activate ${version}`);
    },
    sweep: async () => {
      if (refusals.sweep) throw new Error('read-only');
      log.push('sweep');
    },
  };
  const warn = (_fields: object, words: string): void => void log.push(words.slice(0, 16));
  record = createServedRecord(store, site, { clock, logger: { ...silentLogger, warn } });
});

async function serve(version: string): Promise<{ digest: string; version: string; activatedAt: number }> {
  const stored = storedBundle({ 'index.html': version });
  const bundle = goLive(stored, await createRoutesAhead(async () => {}).take(stored.index));
  site.swap({ bundle, version, activatedAt: 1, provenance: 'link' });
  return { digest: stored.index.digest, version, activatedAt: 1 };
}

test('what could not be recorded is recorded later, tried once a minute and told once', async () => {
  refusals.activate = true;
  await record.write(await serve('v1'));
  for (let at = 0; at < 5; at += 1) {
    await clock.pass(30_000);
    await record.retry();
  }
  assert.deepEqual([writes, log, record.isWritten()], [3, ['could not record'], false]);
  refusals.activate = false;
  await clock.pass(60_000);
  await record.retry();
  await record.retry();
  assert.deepEqual([log.slice(1), record.isWritten()], [['activate v1', 'sweep'], true]);
});

test('a later record takes the place of one that was refused', async () => {
  const first = await serve('v1');
  refusals.activate = true;
  await record.write(first);
  refusals.activate = false;
  await record.write({ ...first, version: 'v2' });
  await clock.pass(60_000);
  await record.retry();
  assert.deepEqual(log.slice(1), ['activate v2', 'sweep']);
});

test('what is no longer served is not recorded', async () => {
  refusals.activate = true;
  await record.write(await serve('v1'));
  refusals.activate = false;
  await serve('v2');
  await clock.pass(60_000);
  await record.retry();
  assert.deepEqual(log, ['could not record']);
});

test('a bundle that proved damaged is not recorded over the former one, until it can be read', async () => {
  refusals.activate = true;
  await record.write(await serve('v1'));
  refusals.activate = false;
  site.view()?.active.bundle.reportUnreadable();
  await clock.pass(60_000);
  await record.retry();
  assert.deepEqual(log, ['could not record']);
  await serve('v1');
  await record.retry();
  assert.deepEqual(log.slice(1), ['activate v1', 'sweep']);
});

test('a failed removal is not told as a failed record', async () => {
  refusals.sweep = true;
  await record.write(await serve('v1'));
  await clock.pass(60_000);
  await record.retry();
  assert.deepEqual(log, ['activate v1', 'could not remove']);
});
