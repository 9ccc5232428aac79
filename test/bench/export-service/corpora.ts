// Ours, `wget --mirror --page-requisites --convert-links` and HTTrack over the same sites, in turn: how many files of the site each
// copy lacks, how many it has with other bytes, and the seconds. What a site has is what a browser asks its origin for on all
// pages, in clicks and in the search. Links that a tool rewrites do not count as other bytes: pages, styles and scripts are left
// out of that column. Where a server makes the pictures, a crawl before the first makes them.
//
//   node test/bench/export-service/corpora.ts [--only NAME,NAME]

import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer, request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { fileCorpora, serverCorpora } from '../../extended/corpora/corpora.ts';
import type { Corpus } from '../../extended/corpora/corpus.ts';
import { exportOrigin } from '../../extended/corpora/exported.ts';
import { type CorpusOrigin, startOrigin } from '../../extended/corpora/origin.ts';
import { follow, search, seePages, startSealedBrowser } from '../../extended/corpora/visit.ts';
import { runCommand } from '../../support/command.ts';

const { values } = parseArgs({ options: { only: { type: 'string' } } });
const wanted = values.only?.split(',');

/** Path and query on the site → body, of each answer 200 that a visitor's browser got. */
type Visited = ReadonlyMap<string, Buffer>;

/** Between a browser and an origin; it keeps what passes. */
async function startRecorder(origin: URL): Promise<CorpusOrigin & { readonly visited: Visited }> {
  const visited = new Map<string, Buffer>();
  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    // As a crawler asks: an optimizer has pictures of its own for each browser.
    const headers = { ...request.headers, accept: '*/*', 'accept-encoding': 'identity' };
    const isPlain = request.headers['rsc'] === undefined && request.headers['range'] === undefined;
    const sent = httpRequest(new URL(path, origin), { method: request.method, headers }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () => {
        const body = Buffer.concat(chunks);
        if (answer.statusCode === 200 && isPlain) visited.set(path, body);
        response.writeHead(answer.statusCode ?? 502, answer.headers).end(body);
      });
    });
    sent.on('error', () => response.destroy());
    request.pipe(sent);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: new URL(`http://127.0.0.1:${port}/`),
    visited,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Everything that a visitor asks for: each page, its pictures, the clicks and the search of the corpus. */
async function visitAll(corpus: Corpus, origin: URL, paths: readonly string[]): Promise<Visited> {
  const recorder = await startRecorder(origin);
  const sealed = await startSealedBrowser();
  try {
    await seePages(sealed.browser, recorder.url, paths);
    for (const one of corpus.navigations) await follow(sealed.browser, recorder.url, one);
    if (corpus.search !== undefined) await search(sealed.browser, recorder.url, corpus.search);
  } finally {
    await sealed.close();
    await recorder.stop();
  }
  return recorder.visited;
}

/** A copy as a folder of files. Names of a query differ by tool, so bytes are found by their hash too. */
interface SiteCopy {
  readonly seconds: number;
  readonly files: ReadonlyMap<string, string>;
  readonly hashes: ReadonlySet<string>;
}

const hashOf = (body: Buffer | string): string => createHash('sha256').update(body).digest('hex');

function copyOf(seconds: number, files: ReadonlyMap<string, string>): SiteCopy {
  return { seconds, files, hashes: new Set(files.values()) };
}

function folderCopy(folder: string, seconds: number): SiteCopy {
  const names = globSync('**/*', { cwd: folder }).filter((name) => statSync(join(folder, name)).isFile());
  return copyOf(seconds, new Map(names.map((name) => [name, hashOf(readFileSync(join(folder, name)))])));
}

type MakeCopy = (origin: URL, work: string) => Promise<SiteCopy>;

const tools: Readonly<Record<'ours' | 'wget' | 'HTTrack', MakeCopy>> = {
  ours: async (origin, work) => {
    const start = performance.now();
    const { contents } = await exportOrigin(origin, work);
    const seconds = (performance.now() - start) / 1_000;
    return copyOf(
      seconds,
      new Map([...contents].map(([path, text]) => [path, hashOf(Buffer.from(text, 'latin1'))])),
    );
  },
  wget: (origin, work) =>
    timed(['wget', '--quiet', '--mirror', '-p', '-k', '--directory-prefix', work, origin.href], () =>
      join(work, origin.host),
    ),
  HTTrack: (origin, work) =>
    timed(
      ['httrack', origin.href, '--path', work, '--quiet', '--disable-security-limits', '--max-rate=0'],
      () => join(work, origin.host.replace(':', '_')),
    ),
};

async function timed(command: readonly string[], folder: () => string): Promise<SiteCopy> {
  const start = performance.now();
  const { code, stderr } = await runCommand(command);
  const seconds = (performance.now() - start) / 1_000;
  // wget ends with 8 where the site has a broken link.
  if (!existsSync(folder()))
    throw new Error(`${command[0]} ended with ${code} and no files: ${stderr.slice(0, 500)}`);
  return folderCopy(folder(), seconds);
}

/** Its links may be rewritten, so its bytes say nothing. */
const isRewritten = (path: string, body: Buffer): boolean =>
  /\.(?:html|css|js|txt|xml|svg|webmanifest)$/.test(path) ||
  /^\s*<(?:!doctype|html)/i.test(body.toString('latin1', 0, 200));

/** Names under which a copy may have an address. */
function namesOf(address: string): readonly string[] {
  const path = decodeURI(address.replace(/[?#].*$/s, '')).replace(/^\//, '');
  const names =
    path === '' || path.endsWith('/') ? [`${path}index.html`] : [path, `${path}.html`, `${path}/index.html`];
  return [...names, address.replace(/^\//, '')];
}

function judge(
  visited: Visited,
  { files, hashes }: SiteCopy,
): { readonly missing: number; readonly wrong: number } {
  let missing = 0;
  let wrong = 0;
  for (const [address, body] of visited) {
    if (body.length === 0) continue;
    const hasBytes = hashes.has(hashOf(body));
    const path = address.replace(/\?.*$/s, '');
    const name = namesOf(address).find((one) => files.has(one));
    if (hasBytes) continue;
    // A file of this name with other bytes is a wrong one, unless links in it may differ.
    if (name === undefined) missing += 1;
    else if (!isRewritten(path, body)) wrong += 1;
  }
  return { missing, wrong };
}

/** Addresses of the pages, as visitors have them in their address bar. */
const pagesOf = ({ files }: SiteCopy): readonly string[] =>
  [...files.keys()]
    .filter((path) => path.endsWith('.html') && !path.endsWith('404.html'))
    .map((path) => `/${path.replace(/(^|\/)index\.html$/, '$1').replace(/\.html$/, '')}`);

console.log('| corpus | files of a visit | tool | missing | wrong | seconds |\n|---|---|---|---|---|---|');
for (const corpus of [...fileCorpora, ...serverCorpora].filter(
  ({ name }) => wanted?.includes(name) ?? true,
)) {
  const origin = await startOrigin(corpus);
  const folder = mkdtempSync(join(tmpdir(), 'corpora-bench-'));
  const copyTo = (name: string, copy: MakeCopy): Promise<SiteCopy> => {
    const work = join(folder, name);
    mkdirSync(work);
    return copy(origin.url, work);
  };
  try {
    if (corpus.serve !== undefined) await copyTo('warm', tools.ours);
    const ours = await copyTo('ours', tools.ours);
    const copies = {
      ours,
      wget: await copyTo('wget', tools.wget),
      HTTrack: await copyTo('HTTrack', tools.HTTrack),
    };
    const visited = await visitAll(corpus, origin.url, pagesOf(ours));
    for (const [tool, copy] of Object.entries(copies)) {
      const { missing, wrong } = judge(visited, copy);
      const row = [corpus.name, visited.size, tool, missing, wrong, copy.seconds.toFixed(1)];
      console.log(`| ${row.join(' | ')} |`);
    }
  } finally {
    await origin.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
