// Deltas of kits between builds of a real site: every pair of builds must arrive at the digest, and one edited page must cost
// at most a quarter of the whole kit. `node test/bench/bundle/kit-deltas.ts [--builds 10] [--pages 60]`
// Data: the VitePress site of the tests with more pages, built anew for each edit. Ends with 1 where a claim does not hold.

import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { defaultLimits } from '#bundle/limits.ts';
import { createCountingSink } from '#bundle/store/pack.ts';
import { applyDelta } from '#mirror/kit/delta-reader.ts';
import { deltaBytes } from '#mirror/kit/delta-writer.ts';
import { buildKit } from '../../support/kit-builder.ts';
import { type MemorySite, memoryBundle } from '../../support/memory-bundle.ts';
import { minisignKeys } from '../../support/minisign-keys.ts';
import { buildVitepressSite } from '../../support/vitepress-export.ts';

const { values } = parseArgs({
  options: { builds: { type: 'string', default: '10' }, pages: { type: 'string', default: '60' } },
});
const builds = Number(values.builds);
const pages = Number(values.pages);
const largestShare = 0.25;
const never = new AbortController().signal;

const words = readFileSync(new URL('../../../src/cli/README.md', import.meta.url), 'utf8')
  .split(/[^A-Za-z]+/)
  .filter((word) => word.length > 2);

/** Text that no other page has. */
function textOf(page: number): string {
  let state = page + 1;
  const next = (): string => {
    state = (state * 48271) % 2147483647;
    return words[state % words.length] ?? '';
  };
  const paragraph = (): string => `${Array.from({ length: 80 }, next).join(' ')}.`;
  const section = (_: unknown, at: number): string => `## Part ${at}\n\n${paragraph()}\n\n${paragraph()}\n`;
  return `# Page ${page}\n\n${Array.from({ length: 12 }, section).join('\n')}`;
}

function readSite(folder: string): MemorySite {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const files = names.filter((name) => statSync(join(folder, name)).isFile());
  return Object.fromEntries(files.map((name) => [name, readFileSync(join(folder, name))]));
}

/** One build with one page that no other build has edited. */
async function buildOne(folder: string, build: number): Promise<MemorySite> {
  const target = join(folder, `${build}`);
  await buildVitepressSite('v1', target, async (sources) => {
    await mkdir(join(sources, 'pages'));
    for (let page = 0; page < pages; page += 1) {
      await writeFile(join(sources, 'pages', `${page}.md`), textOf(page));
    }
    await appendFile(join(sources, 'pages', `${build}.md`), `\nA sentence of build ${build} alone.\n`);
  });
  return readSite(target);
}

async function deltaOf(site: MemorySite, base: MemorySite): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of deltaBytes(memoryBundle(site), memoryBundle(base), () => {}, never))
    chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function* only(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

const folder = mkdtempSync(join(tmpdir(), 'kit-deltas-'));
try {
  const sites: MemorySite[] = [];
  for (let build = 0; build < builds; build += 1) sites.push(await buildOne(folder, build));
  const { key } = await minisignKeys();
  const whole = await Promise.all(sites.map((site) => buildKit([{ site }], key)));
  const sizes: number[] = [];
  let wrong = 0;
  let changed = 0;
  for (const [at, site] of sites.entries()) {
    const { digest } = memoryBundle(site).index;
    for (const [from, base] of sites.entries()) {
      const delta = await deltaOf(site, base);
      const sink = { limits: defaultLimits, pack: createCountingSink() };
      const index = await applyDelta(only(delta), digest, memoryBundle(base), sink);
      if (index.digest !== digest) wrong += 1;
      if (at === from) continue;
      sizes.push((await buildKit([{ site, base }], key)).length / (whole[at]?.length ?? 1));
      const hashes = new Set(memoryBundle(base).index.files.map(({ sha256 }) => sha256));
      changed += index.files.filter(({ sha256 }) => !hashes.has(sha256)).length;
    }
  }
  sizes.sort((a, b) => a - b);
  const percent = (share = Number.NaN): string => `${(100 * share).toFixed(1)} %`;
  const [first] = sites;
  const { files, sizeBytes, pages: pageCount } = memoryBundle(first ?? {}).index;
  console.log(
    `site: ${pageCount} pages, ${files.length} files, ${sizeBytes} bytes; whole kit ${whole[0]?.length} bytes`,
  );
  console.log(`pairs: ${builds * builds}, with a wrong digest: ${wrong}`);
  console.log(`files that differ between two builds, mean: ${(changed / sizes.length).toFixed(1)}`);
  console.log(
    `delta kit of the whole one: smallest ${percent(sizes[0])}, median ${percent(sizes[sizes.length >> 1])}, largest ${percent(sizes.at(-1))}`,
  );
  if (wrong > 0 || (sizes.at(-1) ?? 1) > largestShare) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
