// Every page of a site in a browser: order, bounds, time and failures, with a scripted browser.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PageFindings } from '#site/browser/page-record.ts';
import { defaultVerificationLimits, type VisitPage, verifyPages } from '#site/browser/verification.ts';

const clean: PageFindings = { offSite: [], errors: [] };
const pagesOf = (...paths: readonly string[]) => paths.map((path) => ({ path, address: `/${path}` }));
const never = new AbortController().signal;
const stopped = { monotonic: () => 0 };

const verify = (paths: readonly string[], visit: VisitPage, limits = {}) =>
  verifyPages(pagesOf(...paths), visit, { ...defaultVerificationLimits, ...limits }, stopped, never);

test('a site without findings is reported with its pages', async () => {
  const seen: string[] = [];
  const report = await verify(['a', 'b', 'c'], async ({ address }) => {
    seen.push(address);
    return clean;
  });
  assert.deepEqual(report, {
    pages: 3,
    notOpened: 0,
    offSiteRequests: { count: 0, entries: [] },
    consoleErrors: { count: 0, entries: [] },
  });
  assert.deepEqual(seen.sort(), ['/a', '/b', '/c']);
});

test('a finding stands once, with its first page and how many pages have it, whichever page is open first', async () => {
  const findings: Readonly<Record<string, PageFindings>> = {
    a: { offSite: ['h/1'], errors: ['late'] },
    b: { offSite: ['h/1', 'h/2'], errors: [] },
    c: { offSite: [], errors: ['early', 'late'] },
  };
  const release = new Map<string, () => void>();
  const report = (first: string) =>
    verify(['a', 'b', 'c'], async ({ path }) => {
      if (path === first) await new Promise<void>((resolve) => release.set(path, resolve));
      if (path === 'c') release.get(first)?.();
      return findings[path] ?? clean;
    });
  const expected = {
    pages: 3,
    notOpened: 0,
    offSiteRequests: {
      count: 2,
      entries: [
        { address: 'h/1', from: 'a', pages: 2 },
        { address: 'h/2', from: 'b', pages: 1 },
      ],
    },
    consoleErrors: {
      count: 2,
      entries: [
        { message: 'late', from: 'a', pages: 2 },
        { message: 'early', from: 'c', pages: 1 },
      ],
    },
  };
  assert.deepEqual(await report('a'), expected);
  assert.deepEqual(await report('b'), expected);
});

test('no more than two pages are open at once', async () => {
  let open = 0;
  let most = 0;
  await verify(['a', 'b', 'c', 'd', 'e'], async () => {
    open += 1;
    most = Math.max(most, open);
    await Promise.resolve();
    open -= 1;
    return clean;
  });
  assert.equal(most, 2);
});

test('pages for which the time is not enough are counted', async () => {
  let time = 0;
  const clock = { monotonic: () => time };
  const visit: VisitPage = async () => {
    time += 10;
    return clean;
  };
  const limits = { pagesAtOnce: 1, totalMs: 25 };
  const report = await verifyPages(pagesOf('a', 'b', 'c', 'd', 'e'), visit, limits, clock, never);
  assert.deepEqual([report.pages, report.notOpened], [3, 2]);
});

test('a visit that fails ends the others, and is thrown when no page is open', async () => {
  const ended: string[] = [];
  const failing = verify(['a', 'b', 'c', 'd'], async ({ path }) => {
    if (path === 'a') throw new Error('the browser ended');
    await new Promise((resolve) => void setImmediate(resolve));
    ended.push(path);
    return clean;
  });
  await assert.rejects(failing, /the browser ended/);
  assert.deepEqual(ended, ['b']);
});

test('an aborted verification ends with the reason of its signal', async () => {
  const signal = AbortSignal.abort(new Error('stopped'));
  const failing = verifyPages(pagesOf('a'), async () => clean, defaultVerificationLimits, stopped, signal);
  await assert.rejects(failing, /stopped/);
});

test('a list is bounded, and its count is whole', async () => {
  const paths = Array.from({ length: 40 }, (_, at) => `p${at}`);
  const { consoleErrors } = await verify(paths, async ({ path }) => ({
    offSite: [],
    errors: [`${path} a`, `${path} b`],
  }));
  assert.deepEqual([consoleErrors.count, consoleErrors.entries.length], [80, 50]);
});
