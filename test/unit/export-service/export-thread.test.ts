// The thread of an export, seen by its starter: what it reports, and that time limit, memory limit and abort end a thread
// that never pauses.

import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { defaultCrawlLimits, partialFile } from '#export-service/crawler/contract.ts';
import { exportInThread } from '#export-service/export-thread.ts';
import type { ExportContext, Exported } from '#export-service/site-export.ts';
import { type Clock, systemClock } from '#platform/runtime/clock.ts';
import { createLogger, silentLogger } from '#platform/runtime/logger.ts';
import { publishableCode } from '#platform/wire/publishable-error.ts';

const exportSite = exportInThread(new URL('./export-program.ts', import.meta.url), 32);
const folder = mkdtempSync(join(tmpdir(), 'export-thread-'));
const destination = join(folder, 'site.tar.gz');
after(() => rmSync(folder, { recursive: true }));

function start(domain: string, edge: Partial<ExportContext> = {}): Promise<Exported> {
  return exportSite(
    {
      domain,
      origin: new URL('http://127.0.0.1:4000/base/'),
      isOriginConsented: true,
      spoolDirectory: folder,
      destination,
      limits: defaultCrawlLimits,
    },
    {
      clock: systemClock,
      logger: silentLogger,
      onProgress: () => {},
      onCrawled: () => {},
      signal: new AbortController().signal,
      ...edge,
    },
  );
}

/** The test ends the time limit, so that a slow machine does not change the result. */
function heldClock(): { readonly clock: Clock; readonly pass: () => void; readonly isOver: () => boolean } {
  let pass = (): void => {};
  let limit: AbortSignal | undefined;
  const clock: Clock = {
    ...systemClock,
    after: (_ms, signal) =>
      new Promise((resolve, reject) => {
        pass = resolve;
        limit = signal;
        signal?.addEventListener('abort', () => reject(signal.reason));
      }),
  };
  return { clock, pass: () => pass(), isOver: () => limit?.aborted ?? false };
}

test('an export reports its progress, its log and its result', async () => {
  const lines: string[] = [];
  const seen: unknown[] = [];
  const exported = await start('good', {
    logger: createLogger('info', (line) => lines.push(line)),
    onProgress: ({ pageCount, discovered }) => seen.push([pageCount, discovered]),
  });
  const answers = { fromOrigin: 2, notModified: 0, fromJournal: 0 };
  assert.deepEqual(exported, { pageCount: 2, answers, keptBytes: 5, sizeBytes: 7, sha256: 'ab' });
  assert.deepEqual(seen, [[1, 2]]);
  assert.match(
    lines.join(''),
    /"by":"thread","origin":"http:\/\/127\.0\.0\.1:4000\/base\/","msg":"crawling"/,
  );
});

test('the time limit of a crawl ends a thread that never pauses, and removes its partial archive', async () => {
  const { clock, pass } = heldClock();
  const ended = start('turns', { clock, onProgress: pass });
  await assert.rejects(ended, { code: 'CrawlTimedOut', message: /3600000 ms \(--crawl-timeout\)/ });
  assert.equal(existsSync(partialFile(destination)), false);
});

test('an abort ends a thread that never pauses, with the reason of the abort', async () => {
  const caller = new AbortController();
  const ended = start('turns', {
    signal: caller.signal,
    onProgress: () => caller.abort(new Error('stopping')),
  });
  await assert.rejects(ended, { message: 'stopping' });
  await assert.rejects(start('turns', { signal: caller.signal }), { message: 'stopping' });
});

test('the time limit of a crawl does not apply to packing', async () => {
  const { clock, pass, isOver } = heldClock();
  const caller = new AbortController();
  const onCrawled = (): void => {
    assert.equal(isOver(), true);
    pass();
    caller.abort(new Error('enough'));
  };
  await assert.rejects(start('packs', { clock, onCrawled, signal: caller.signal }), { message: 'enough' });
});

for (const [domain, what, code, message] of [
  ['fills', 'memory beyond its limit', 'CrawlOutOfMemory', /more than 32 MB/],
  ['exits', 'an end without a word', 'CrawlFailed', /ended unexpectedly/],
  ['fails', 'an error of the crawl', 'TooDeep', /^too deep$/],
  ['full', 'an error of the system, whose words are not repeated', 'ENOSPC', /^unexpected ENOSPC$/],
] as const) {
  test(`${what} fails the export alone`, async () => {
    await assert.rejects(start(domain), (error: unknown) => {
      assert.equal(publishableCode(error), code);
      assert.match(String(error instanceof Error && error.message), message);
      return true;
    });
  });
}
