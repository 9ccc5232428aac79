// A site in a real Chromium: what `bundle check` and the report of an export say of a page that asks another host, of one that
// throws, and of one that is clean; that the same site gives the same archive; and that nothing of the browser is left.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { defaultCrawlLimits } from '#export-service/crawler/contract.ts';
import { exportInThread } from '#export-service/export-thread.ts';
import { systemClock } from '#platform/runtime/clock.ts';
import { silentLogger } from '#platform/runtime/logger.ts';
import { runInProcess } from '../../support/cli-in-process.ts';
import { eventually } from '../../support/eventually.ts';
import { tarOf } from '../../support/tar-builder.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { requireHere } from '../requirement.ts';

const chromium = '/usr/bin/chromium';
requireHere(!existsSync(chromium) && 'chromium is not installed');

const page = (body: string): string => `<!doctype html><link rel=icon href="data:,"><body>${body}`;
const site = {
  'index.html': page(
    // Put together when it runs, so that no copy stands for it.
    '<script>new Image().src = ["https://cdn.example", "a.png?key=1"].join("/")</script>' +
      '<a href="/thrown"></a><a href="/clean"></a>',
  ),
  'thrown.html': page('<script>throw new TypeError("boom")</script>'),
  'clean.html': page(
    '<p></p><script>if (isSecureContext) fetch("/data.json").then((answer) => answer.json())</script>' +
      '<script src="/a.js"></script><a href="/data.json"></a>',
  ),
  'a.js': 'document.querySelector("p").textContent = "here";',
  'data.json': '{}',
};
const expected = {
  pages: 3,
  notOpened: 0,
  offSiteRequests: { count: 1, entries: [{ address: 'cdn.example/a.png', from: 'index.html', pages: 1 }] },
  consoleErrors: { count: 1, entries: [{ message: 'TypeError: boom', from: 'thrown.html', pages: 1 }] },
};

/** Tests run as root, where the browser's sandbox does not. */
function browserIn(folder: string, more = ''): string {
  const script = join(folder, 'browser.sh');
  writeFileSync(script, `#!/bin/sh\n${more}\nexec ${chromium} --no-sandbox "$@"\n`, { mode: 0o755 });
  return script;
}

/** Processes whose command names this text. */
function processesWith(text: string): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && name !== `${process.pid}`)
    .filter((name) => {
      try {
        return readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(text);
      } catch {
        return false;
      }
    });
}

test('the check of an archive says what its pages do in a browser', async (t) => {
  const folder = temporaryFolder(t);
  const archive = join(folder, 'site.tar');
  writeFileSync(archive, tarOf(site));
  const words = ['bundle', 'check', archive, '--verify-in-browser', browserIn(folder), '-o', 'json'];
  const { code, stdout, stderr } = await runInProcess(words);
  assert.equal(code, 1, stderr);
  assert.deepEqual(JSON.parse(stdout).browser, expected);
  const allowed = await runInProcess([...words, '--allow-external', 'cdn.example']);
  assert.equal(allowed.code, 0, allowed.stderr);
  const { offSiteRequests } = JSON.parse(allowed.stdout).browser;
  assert.deepEqual(offSiteRequests, { count: 0, entries: [] });
  assert.deepEqual(processesWith('/browser/profile-'), []);
});

test('a browser that ends, or does not start, fails the check with what to do', async (t) => {
  const folder = temporaryFolder(t);
  const archive = join(folder, 'site.tar');
  writeFileSync(archive, tarOf(site));
  const check = (browser: string) =>
    runInProcess(['bundle', 'check', archive, '--verify-in-browser', browser]);
  const missing = await check(join(folder, 'none'));
  assert.equal(missing.code, 2);
  assert.match(missing.stderr, /check that the path is a Chromium.*\(BrowserNotStarted\)/);
  const ended = await check('/bin/true');
  assert.match(ended.stderr, /\(BrowserNotStarted\)/);
});

/** The site at an origin of its own, exported with a browser. */
async function exportSite(
  t: TestContext,
  folder: string,
  name: string,
  browser: string,
  signal: AbortSignal = t.signal,
) {
  const texts = new Map(Object.entries(site));
  const types: Readonly<Record<string, string>> = { js: 'text/javascript', json: 'application/json' };
  const server = createServer(({ url = '/' }, response) => {
    const path = url === '/' ? 'index.html' : url.slice(1);
    const found = texts.get(path) ?? texts.get(`${path}.html`);
    const type = types[/\.(\w+)$/.exec(path)?.[1] ?? ''] ?? 'text/html';
    response.writeHead(found === undefined ? 404 : 200, { 'content-type': type }).end(found);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  const origin = new URL(`http://127.0.0.1:${address.port}/`);
  const destination = join(folder, `${name}.tar.gz`);
  const spoolDirectory = join(folder, `spool-${name}`);
  mkdirSync(spoolDirectory);
  return exportInThread(new URL('../../../src/bin/crawl-worker.ts', import.meta.url))(
    {
      ...{ domain: 'docs.example.com', origin, isOriginConsented: true },
      ...{ limits: defaultCrawlLimits, destination, spoolDirectory, browser },
    },
    {
      clock: systemClock,
      logger: silentLogger,
      onProgress: () => {},
      onCrawled: () => {},
      signal,
    },
  );
}

test('an export reports what its pages do in a browser, and the same site gives the same archive', async (t) => {
  const folder = temporaryFolder(t);
  const browser = browserIn(folder);
  const first = await exportSite(t, folder, 'a', browser);
  assert.deepEqual(await exportSite(t, folder, 'b', browser), first);
  const archive = join(folder, 'a.tar.gz');
  const { stdout } = await runInProcess(['bundle', 'inspect', archive, '--report', '-o', 'json']);
  assert.deepEqual(JSON.parse(stdout).report.browser, expected);
  assert.deepEqual(readdirSync(join(folder, 'spool-a/browser')), []);
  assert.deepEqual(processesWith(folder), []);
});

test('an export that is stopped while its browser is open leaves no process of it', async (t) => {
  const folder = temporaryFolder(t);
  const started = join(folder, 'started');
  const caller = new AbortController();
  const browser = browserIn(folder, `touch ${started}`);
  const exporting = exportSite(t, folder, 'a', browser, caller.signal);
  exporting.catch(() => {});
  await eventually('the browser runs', () =>
    existsSync(started) && processesWith(folder).length > 0 ? true : undefined,
  );
  caller.abort(new Error('stopped'));
  await assert.rejects(exporting, /stopped/);
  await eventually('no process is left', () => (processesWith(folder).length === 0 ? true : undefined));
  assert.equal(existsSync(join(folder, 'a.tar.gz')), false);
});
