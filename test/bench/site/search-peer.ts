// The search compared with Pagefind over the same 4,222 pages of Debian's documentation: found titles, time of the index, bytes for a reader.
// `node test/bench/site/search-peer.ts [--titles 400] [--only own]`. The first run installs Pagefind into the cache. Prints a table; asserts nothing.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { brotliCompressSync, constants } from 'node:zlib';
import { z } from 'zod';
import { readSearchScript } from '#site/search/file-writer.ts';
import { manifestName, searchFilePath, type TitlesFile } from '#site/search/search-format.ts';
import { loadManifest, openSearchIndex } from '#site/search/search-index.ts';
import type { SearchIndex } from '#site/search/search-results.ts';
import { makeSearchFiles } from '#site/search-program/make-search.ts';
import { startBrowser } from '../../support/browser.ts';
import { mustRun } from '../../support/command.ts';
import { cachedFolder } from '../../support/tool-cache.ts';
import { debianDocs } from './debian-docs.ts';
import { serveFolder } from './folder-server.ts';
import { createDraw, drawTitles, type KnownPage, withMistake } from './known-titles.ts';

const { values } = parseArgs({
  options: { titles: { type: 'string', default: '400' }, only: { type: 'string', default: 'own,pagefind' } },
});
const sizes = new Map<string, number>();
const pagefindVersion = '1.6.0';
/** Queries that are each asked in a page of its own, with nothing loaded before. */
const freshQueries = 20;

interface Figures {
  readonly cpuSeconds: number;
  readonly titles: number;
  readonly mistakes: number;
  readonly firstLoad: number;
  readonly fiveResults: number;
  readonly shownResults: number;
}

const scratch = mkdtempSync(join(tmpdir(), 'static-export-bench-'));
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }));
const folder = join(scratch, 'site');
const ownSeconds = await buildOwn();
const manifest = await loadManifest(loadOwn);
if (manifest === undefined) throw new Error('the index has another format');
const titlesFile: TitlesFile = JSON.parse(await loadOwn(manifest.languages['en']?.titles ?? ''));
const draw = createDraw(20_261_130);
const known = drawTitles(titlesFile, Number(values.titles), draw);
const mistaken = known.flatMap(({ title, path }): readonly KnownPage[] => {
  const query = withMistake(title, draw);
  return query === undefined ? [] : [{ title: query, path }];
});
function print(name: string, figures: Figures): void {
  const { cpuSeconds, titles, mistakes, firstLoad, fiveResults, shownResults } = figures;
  const cells = [
    ...[name, titles.toFixed(3), mistakes.toFixed(3), `${cpuSeconds.toFixed(1)} s`],
    ...[firstLoad, fiveResults, shownResults].map((bytes) => `${Math.round(bytes / 1000)} KB`),
  ];
  console.log(`| ${cells.join(' | ')} |`);
}

async function buildOwn(): Promise<number> {
  const site = await debianDocs(scratch);
  for (const file of site.index.files) {
    const bytes = Buffer.allocUnsafe(file.size);
    await site.readInto(file, bytes);
    write(file.path, bytes);
  }
  const start = process.cpuUsage();
  const { signal } = new AbortController();
  for await (const { path, bytes } of makeSearchFiles(site, { signal })) write(path, bytes);
  const { user, system } = process.cpuUsage(start);
  await site.close();
  return (user + system) / 1e6;
}

function write(path: string, bytes: Uint8Array): void {
  const target = join(folder, path);
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, bytes);
}

async function loadOwn(name: string): Promise<string> {
  const text = readSearchScript(readFileSync(join(folder, searchFilePath(name)), 'utf8'));
  if (text === undefined) throw new Error(`${name} is not a file of a search`);
  return text;
}

function compressedSize(path: string): number {
  const params = { [constants.BROTLI_PARAM_QUALITY]: 5 };
  const size = sizes.get(path) ?? brotliCompressSync(readFileSync(join(folder, path)), { params }).length;
  sizes.set(path, size);
  return size;
}

/** With what its element loads: the program, the engine, the manifest and the first tier. */
async function measureOwn(): Promise<Figures> {
  let bytes = 0;
  const open = async (): Promise<SearchIndex> => {
    bytes = 0;
    const load = (name: string): Promise<string> => {
      bytes += compressedSize(searchFilePath(name));
      return loadOwn(name);
    };
    await load(manifestName);
    return openSearchIndex(load, manifest ?? never(), 'en');
  };
  const index = await open();
  const engine = readFileSync(join(folder, '_sx/search/search.js'), 'utf8').match(/[0-9a-f]{16}/)?.[0] ?? '';
  const firstLoad = bytes + compressedSize('_sx/search/search.js') + compressedSize(searchFilePath(engine));
  const part = async (asked: readonly KnownPage[]): Promise<number> => {
    let found = 0;
    for (const { title, path } of asked) {
      const { results } = await index.search(title, 5);
      if (results.some((result) => result.path === path)) found += 1;
    }
    return found / asked.length;
  };
  const fresh = async (limit: number): Promise<number> => {
    let sum = 0;
    for (const { title } of known.slice(0, freshQueries)) {
      const own = await open();
      bytes = 0;
      await own.search(title, limit);
      sum += bytes;
    }
    return sum / freshQueries;
  };
  const found = { titles: await part(known), mistakes: await part(mistaken) };
  return {
    cpuSeconds: ownSeconds,
    ...found,
    firstLoad,
    fiveResults: await fresh(5),
    shownResults: await fresh(20),
  };
}

/** @returns seconds of the processor */
async function buildPagefind(): Promise<number> {
  const tool = await cachedFolder(`pagefind-${pagefindVersion}`, async (empty) => {
    await mkdir(join(empty, 'tool'));
    const install = [
      'npm',
      'install',
      '--no-audit',
      '--no-fund',
      '--ignore-scripts',
      '--prefix',
      join(empty, 'tool'),
    ];
    await mustRun([...install, `pagefind@${pagefindVersion}`]);
  });
  const program = join(tool, 'tool/node_modules/.bin/pagefind');
  const stdout = await mustRun(['sh', '-c', '"$@" >&2; times', 'sh', program, '--site', folder]);
  // The second line is of the commands: minutes and seconds, of the program and of the kernel.
  const times = [...(stdout.trim().split('\n')[1] ?? '').matchAll(/(\d+)m([\d.]+)s/g)];
  return times.reduce((sum, [, minutes, seconds]) => sum + 60 * Number(minutes) + Number(seconds), 0);
}

const found = z.array(z.string());

async function measurePagefind(cpuSeconds: number): Promise<Figures> {
  write(
    'peer.html',
    Buffer.from('<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>x</title>'),
  );
  const server = await serveFolder(folder);
  const browser = await startBrowser();
  const openPeer = async () => {
    const page = await browser.openPage({ hasCache: false });
    await page.goTo(new URL('peer.html', server.url).href);
    server.takeCounts();
    await page.evaluate(
      `import('/pagefind/pagefind.js').then(async (one) => { window.peer = one; await one.options({}); await one.init(); })`,
    );
    await page.untilQuiet();
    return page;
  };
  try {
    const page = await openPeer();
    const firstLoad = server.takeCounts().bytes;
    const ask = async (on: typeof page, query: string, limit: number): Promise<readonly string[]> =>
      found.parse(
        await on.evaluate(
          `peer.search(${JSON.stringify(query)}).then(({ results }) => Promise.all(results.slice(0, ${limit}).map((one) => one.data()))).then((all) => all.map(({ raw_url }) => raw_url))`,
        ),
      );
    const part = async (asked: readonly KnownPage[]): Promise<number> => {
      let count = 0;
      for (const { title, path } of asked) {
        const urls = await ask(page, title, 5);
        if (urls.some((url) => addressOf(url) === addressOf(`/${path}`))) count += 1;
      }
      return count / asked.length;
    };
    const fresh = async (limit: number): Promise<number> => {
      let sum = 0;
      for (const { title } of known.slice(0, freshQueries)) {
        const other = await openPeer();
        server.takeCounts();
        await ask(other, title, limit);
        sum += server.takeCounts().bytes;
        await other.close();
      }
      return sum / freshQueries;
    };
    const parts = { titles: await part(known), mistakes: await part(mistaken) };
    return { cpuSeconds, ...parts, firstLoad, fiveResults: await fresh(5), shownResults: await fresh(20) };
  } finally {
    await browser.close();
    await server.close();
  }
}

const addressOf = (url: string): string => url.replace(/index\.html$/, '');

function never(): never {
  throw new Error('there is no manifest');
}

const only = values.only.split(',');
if (only.includes('own')) print('this project', await measureOwn());
if (only.includes('pagefind'))
  print(`Pagefind ${pagefindVersion}`, await measurePagefind(await buildPagefind()));
