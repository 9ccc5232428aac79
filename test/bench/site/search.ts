// The search over real documentation: whether pages are found by their titles, also with a mistake in them, and what the index costs.
// `node test/bench/site/search.ts [--titles 400] [--misses 5]`. Exits with 1 where a goal is missed, times and memory aside.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { brotliCompressSync, constants } from 'node:zlib';
import { readSearchScript } from '#site/search/file-writer.ts';
import { makeSearchIndex } from '#site/search/search-files.ts';
import { type LanguageFiles, searchFilePath } from '#site/search/search-format.ts';
import { loadManifest, openSearchIndex } from '#site/search/search-index.ts';
import type { SearchAnswer } from '#site/search/search-results.ts';
import { debianDocs } from './debian-docs.ts';
import { createDraw, drawTitles, withMistake, withWrongStart } from './known-titles.ts';

const { values } = parseArgs({
  options: { titles: { type: 'string', default: '400' }, misses: { type: 'string', default: '5' } },
});
/** The first tier of 4,000 pages, compressed. */
const maxTitlesBytes = 250_000;
const goals = { titles: 0.97, mistakes: 0.9 };

const folder = mkdtempSync(join(tmpdir(), 'static-export-bench-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const site = await debianDocs(folder);
const draw = createDraw(20_261_130);

await build();
const manifest = await loadManifest(load);
const files = manifest?.languages['en'];
if (manifest === undefined || files === undefined) throw new Error('there is no index of English pages');
const sizes = printSizes(files);
const known = drawTitles(JSON.parse(await load(files.titles)), Number(values.titles), draw);
const index = await openSearchIndex(load, manifest, 'en');
const exact = known.map(({ title, path }) => ({ query: title, path }));
const mistaken = known.flatMap(({ title, path }) => {
  const query = withMistake(title, draw);
  return query === undefined ? [] : [{ query, path }];
});
const wrongStarts = known.flatMap(({ title, path }) => {
  const query = withWrongStart(title, draw);
  return query === undefined ? [] : [{ query, path }];
});
const found = {
  titles: await score('titles', exact, (query) => index.search(query, 5)),
  titlesAlone: await score('titles, first tier alone', exact, async (query) => index.searchTitles(query, 5)),
  mistakes: await score('one mistake', mistaken, (query) => index.search(query, 5)),
  mistakesAlone: await score('one mistake, first tier alone', mistaken, async (query) =>
    index.searchTitles(query, 5),
  ),
};
await score('another first letter', wrongStarts, (query) => index.search(query, 5));
await site.close();
const isMet =
  found.titles >= goals.titles && found.mistakes >= goals.mistakes && sizes.titles <= maxTitlesBytes;
console.log(isMet ? 'every goal is met' : 'a goal is missed');
process.exitCode = isMet ? 0 : 1;

async function build(): Promise<void> {
  const before = process.memoryUsage.rss();
  const start = process.cpuUsage();
  const { signal } = new AbortController();
  let peak = before;
  let bytes = 0;
  for await (const file of makeSearchIndex(site, {
    signal,
    onFile: () => {
      peak = Math.max(peak, process.memoryUsage.rss());
    },
  })) {
    const path = join(folder, file.path);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, file.bytes);
    bytes += file.bytes.length;
  }
  const { user, system } = process.cpuUsage(start);
  const seconds = (user + system) / 1e6;
  const { pages, sizeBytes } = site.index;
  console.log(`${pages} pages, ${megabytes(sizeBytes)}; the search is ${megabytes(bytes)}`);
  console.log(`${Math.round(pages / seconds)} pages for a second of the processor, ${seconds.toFixed(1)} s`);
  console.log(`memory: ${megabytes(peak)} resident, ${megabytes(peak - before)} more than before`);
}

async function load(name: string): Promise<string> {
  const text = readSearchScript(readFileSync(join(folder, searchFilePath(name)), 'utf8'));
  if (text === undefined) throw new Error(`${name} is not a file of a search`);
  return text;
}

function printSizes({ titles, terms, texts }: LanguageFiles): { readonly titles: number } {
  const tiers = {
    titles: [titles],
    'terms of texts': terms.map(([, name]) => name),
    'texts of results': texts.map(([, name]) => name),
  };
  for (const [tier, names] of Object.entries(tiers)) {
    const all = names.map(compressedSize);
    const sum = all.reduce((total, size) => total + size, 0);
    const largest = all.reduce((most, size) => Math.max(most, size), 0);
    console.log(
      `${tier}: ${names.length} files, ${kilobytes(sum)} as brotli 5, the largest ${kilobytes(largest)}`,
    );
  }
  return { titles: compressedSize(titles) };
}

function compressedSize(name: string): number {
  const params = { [constants.BROTLI_PARAM_QUALITY]: 5 };
  return brotliCompressSync(readFileSync(join(folder, searchFilePath(name))), { params }).length;
}

interface Asked {
  readonly query: string;
  readonly path: string;
}

/** @returns the part of the queries whose page is among the first five */
async function score(
  name: string,
  asked: readonly Asked[],
  find: (query: string) => Promise<SearchAnswer>,
): Promise<number> {
  const places: number[] = [];
  const start = process.cpuUsage();
  for (const { query, path } of asked) {
    const { results } = await find(query);
    const place = results.findIndex((result) => result.path === path);
    places.push(place);
    const misses = places.filter((one) => one < 0).length;
    if (place < 0 && misses <= Number(values.misses)) {
      console.log(`  missed: ${query} (${path}); first ${results[0]?.title.text ?? 'nothing'}`);
    }
  }
  const { user, system } = process.cpuUsage(start);
  const part = (isGood: (place: number) => boolean): number => places.filter(isGood).length / places.length;
  const among = part((place) => place >= 0);
  const milliseconds = ((user + system) / 1000 / asked.length).toFixed(1);
  console.log(
    `${name}: ${asked.length} queries, ${among.toFixed(4)} among five, ${part((place) => place === 0).toFixed(4)} first, ${milliseconds} ms of the processor each`,
  );
  return among;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1e3).toFixed(1)} KB`;
}
