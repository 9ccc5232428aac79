// How soon a reader sees a result of the search in a real Chromium on a slow processor, over 4,222 pages of Debian's documentation.
// `node test/bench/site/first-result.ts [--slowdown 4] [--rounds 5]`. Prints medians; asserts nothing.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { makeSearchFiles } from '#site/search-program/make-search.ts';
import { startBrowser } from '../../support/browser.ts';
import { eventually } from '../../support/eventually.ts';
import { debianDocs } from './debian-docs.ts';
import { serveFolder } from './folder-server.ts';

const { values } = parseArgs({
  options: { slowdown: { type: 'string', default: '4' }, rounds: { type: 'string', default: '5' } },
});
const queries = [
  'replication',
  'create table',
  'json.dumps',
  'git rebase',
  'optimzation',
  'aggregate fu',
  's',
];

interface Seen {
  readonly first: number;
  readonly last: number;
}

/** Notes when the first option is in the list, and when the panel waits for nothing. */
const watch = `(() => {
  const root = document.querySelector('sx-search').shadowRoot;
  const panel = root.querySelector('.panel');
  const times = window.seenTimes = { isTyped: false };
  root.querySelector('input').addEventListener('input', () => { times.typed = performance.now(); });
  new MutationObserver(() => {
    if (times.typed === undefined || root.querySelector('[role=option]') === null) return;
    times.first ??= performance.now();
    if (panel.ariaBusy === 'false') times.last ??= performance.now();
  }).observe(panel, { subtree: true, childList: true, attributes: true });
})()`;

/** The first tier is the largest of what is loaded before anything is typed. */
const readTimes = `(() => {
  const { typed, first, last } = window.seenTimes;
  const loaded = performance.getEntriesByType('resource').filter(({ name }) => /[0-9a-f]{16}[.]js$/.test(name));
  const tier = loaded.slice(0, 2).sort((a, b) => b.decodedBodySize - a.decodedBodySize)[0];
  return last === undefined ? null : { typed, first, last, tier: tier.responseEnd };
})()`;
const seenTimes = z.object({ typed: z.number(), first: z.number(), last: z.number(), tier: z.number() });

const folder = mkdtempSync(join(tmpdir(), 'static-export-bench-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
await build();
const server = await serveFolder(folder);
const browser = await startBrowser();
try {
  console.log(`medians of ${values.rounds} rounds in ms, a processor ${values.slowdown} times slower`);
  for (const query of queries) {
    const early: Seen[] = [];
    const late: Seen[] = [];
    for (let round = 0; round < Number(values.rounds); round += 1) {
      early.push(await visit(query, true));
      late.push(await visit(query, false));
    }
    console.log(
      `${query}: first result ${median(early, 'first')} after the first tier, all ${median(early, 'last')}; typed later: first ${median(late, 'first')} after the key, all ${median(late, 'last')}`,
    );
  }
} finally {
  await browser.close();
  await server.close();
}

async function build(): Promise<void> {
  const site = await debianDocs(folder);
  const { signal } = new AbortController();
  const write = (path: string, content: string | Uint8Array): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  };
  for await (const { path, bytes } of makeSearchFiles(site, { signal })) write(path, bytes);
  await site.close();
  const head = '<link rel="icon" href="data:,"><script defer src="_sx/search/search.js"></script>';
  write(
    'index.html',
    `<!doctype html><html lang="en"><head><title>x</title>${head}</head><body><h1>x</h1></body></html>`,
  );
}

/** @param isEarly the text is typed before the first tier has come */
async function visit(query: string, isEarly: boolean): Promise<Seen> {
  const page = await browser.openPage({ hasCache: false, slowdown: Number(values.slowdown) });
  await page.goTo(server.url.href);
  await eventually('the element is in the page', async () =>
    (await page.evaluate(`document.querySelector('sx-search') !== null`)) === true ? true : undefined,
  );
  await page.evaluate(watch);
  await page.press('Control+k');
  if (!isEarly) {
    await page.untilQuiet();
    await page.evaluate('new Promise((resolve) => setTimeout(resolve, 1500))');
  }
  await page.write(query);
  const times = await eventually(`an answer to ${query}`, async () => {
    const value = await page.evaluate(readTimes);
    return value === null ? undefined : seenTimes.parse(value);
  });
  await page.close();
  const from = isEarly ? Math.max(times.tier, times.typed) : times.typed;
  return { first: times.first - from, last: times.last - from };
}

function median(all: readonly Seen[], key: keyof Seen): number {
  const sorted = all.map((one) => one[key]).sort((a, b) => a - b);
  return Math.round(sorted[Math.floor(sorted.length / 2)] ?? Number.NaN);
}
