// What the export service costs while it crawls a site of 2,000 pages and 100 assets, 126 MB: its resident memory,
// its processor time, and how long it takes. The built program, and with `--limit-mib N` (root) in a control group of
// that size, as a container with this memory limit. The site is made by this process, so its cost is not counted. With
// `--validators` the site has entity tags, and the second crawl downloads nothing. Each page has `--links` links more, as of a
// navigation.
//
//   node test/bench/export-service/crawl.ts [--limit-mib N] [--programs FOLDER] [--pages N] [--page-bytes N] [--links N] [--validators]

import { mkdirSync, mkdtempSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { diceOf } from '../../fuzz/mutation.ts';
import { startProgram } from '../../support/child-program.ts';
import { findFreePort } from '../../support/free-port.ts';
import { processorMsOf } from '../bundle/measure.ts';

const assetCount = 100;
const assetBytes = 160_000;
const domain = 'docs.example.com';
const mib = 1024 * 1024;

const { values } = parseArgs({
  options: {
    'limit-mib': { type: 'string' },
    pages: { type: 'string', default: '2000' },
    'page-bytes': { type: 'string', default: '55000' },
    links: { type: 'string', default: '0' },
    validators: { type: 'boolean', default: false },
    programs: { type: 'string', default: join(import.meta.dirname, '../../../dist') },
  },
});

const pageCount = Number(values.pages);
const pageBytes = Number(values['page-bytes']);
const linkCount = Number(values.links);

/** Path → body; each page links to the next ones, every twentieth to an asset. */
function answer(path: string): { readonly type: string; readonly body: string } | undefined {
  const [, kind, number] = /^\/(page|asset)-(\d+)(?:\.js)?$/.exec(path === '/' ? '/page-0' : path) ?? [];
  if (kind === undefined) return undefined;
  const at = Number(number);
  if (kind === 'asset') return { type: 'text/javascript', body: prose(at, assetBytes) };
  const links = [at * 2 + 1, at * 2 + 2].filter((next) => next < pageCount);
  const shown = Array.from(
    { length: linkCount },
    (_, next) => 1 + Math.floor((next * (pageCount - 1)) / linkCount),
  );
  const anchors = [...links, ...(at > 0 ? shown : [])]
    .map((next) => `<a href="/page-${next}">${next}</a>`)
    .join(' ');
  const body = `<!doctype html><title>${at}</title><script src="/asset-${at % assetCount}.js"></script>${anchors}<main>`;
  return { type: 'text/html', body: `${body}${prose(at + assetCount, pageBytes - body.length)}</main>` };
}

const words = Array.from({ length: 4_000 }, (_, at) => (at * 7_919 + 4_001).toString(36));

function prose(seed: number, bytes: number): string {
  const dice = diceOf(seed + 1);
  const pieces: string[] = [];
  for (let length = 0; length < bytes; ) {
    const word = words[Math.min(dice(words.length), dice(words.length))] ?? '';
    pieces.push(word);
    length += word.length + 1;
  }
  return pieces.join(' ');
}

/** A control group (version 1) with this limit; `undefined` without one. */
function makeGroup(limitMib: string | undefined): string | undefined {
  if (limitMib === undefined) return undefined;
  const folder = join('/sys/fs/cgroup/memory', `export-service-bench-${process.pid}`);
  mkdirSync(folder);
  writeFileSync(join(folder, 'memory.limit_in_bytes'), `${Number(limitMib) * mib}`);
  return folder;
}

const origin = createServer((request, response) => {
  const found = answer(request.url ?? '/');
  // The bytes of an address never change.
  const etag = values.validators ? { etag: `"${request.url}"` } : {};
  if (found === undefined) response.writeHead(404).end('nothing here');
  else if (values.validators && request.headers['if-none-match'] === etag.etag)
    response.writeHead(304, etag).end();
  else response.writeHead(200, { 'content-type': found.type, ...etag }).end(found.body);
});
await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
const address = origin.address();
const originPort = typeof address === 'object' && address !== null ? address.port : 0;
const work = mkdtempSync(join(tmpdir(), 'crawl-bench-'));
const group = makeGroup(values['limit-mib']);
writeFileSync(join(work, 'keys.txt'), 'svc_bench\n');
const port = await findFreePort();
const command = [
  process.execPath,
  join(values.programs, 'export-service.mjs'),
  `--listen=127.0.0.1:${port}`,
  `--data=${join(work, 'data')}`,
  `--keys-file=${join(work, 'keys.txt')}`,
  `--origin=${domain}=http://127.0.0.1:${originPort}`,
  `--max-pages=${Math.max(pageCount, 10_000)}`,
  '--log-level=warn',
];
const program = startProgram('/bin/sh', {
  args: [
    '-c',
    `${group === undefined ? '' : `echo $$ > ${group}/cgroup.procs; `}exec "$@"`,
    'sh',
    ...command,
  ],
  env: { NODE_ENV: 'production', MALLOC_ARENA_MAX: '1' },
  onLine: (line) => console.log(line),
});
const status = (name: string): string =>
  (
    Number(new RegExp(`${name}:\\s+(\\d+)`).exec(readFileSync(`/proc/${program.pid}/status`, 'utf8'))?.[1]) /
    1024
  ).toFixed(0);
const jobShape = z.looseObject({
  jobId: z.string().optional(),
  status: z.string().optional(),
  pageCount: z.number().optional(),
  error: z.string().nullish(),
});
const ask = async (method: string, path: string, body?: object): Promise<z.infer<typeof jobShape>> => {
  const headers = { authorization: 'Bearer svc_bench', 'content-type': 'application/json' };
  const payload = body === undefined ? {} : { body: JSON.stringify(body) };
  const answered = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers, ...payload });
  return jobShape.parse(await answered.json());
};

try {
  for (let tries = 0; tries < 100; tries += 1) {
    const isUp = await ask('GET', '/v1/static-export/jobs/none').then(
      () => true,
      () => false,
    );
    if (isUp) break;
    await sleep(100);
  }
  console.log(`started: ${status('VmRSS')} MB resident`);
  for (const round of ['first', 'second']) {
    const [began, processor] = [performance.now(), processorMsOf(program.pid)];
    const { jobId } = await ask('POST', '/v1/static-export/jobs', { domain });
    let job: z.infer<typeof jobShape> = {};
    let peak = 0;
    while (job.status !== 'completed') {
      if (job.status === 'failed') throw new Error(`the job failed: ${job.error}`);
      await sleep(250);
      peak = Math.max(peak, Number(status('VmRSS')));
      job = await ask('GET', `/v1/static-export/jobs/${jobId}`);
    }
    const tookMs = performance.now() - began;
    const usedMs = processorMsOf(program.pid) - processor;
    console.log(
      `${round} crawl: ${job.pageCount} pages in ${(tookMs / 1000).toFixed(1)} s, ${(usedMs / 1000).toFixed(1)} s of processor ` +
        `(${((100 * usedMs) / tookMs).toFixed(0)} % of a core), resident up to ${peak} MB, after it ${status('VmRSS')} MB`,
    );
  }
  await sleep(20_000);
  console.log(`20 s later: ${status('VmRSS')} MB resident, ${status('VmHWM')} MB at the peak`);
  if (group !== undefined) {
    const most = Number(readFileSync(join(group, 'memory.max_usage_in_bytes'), 'utf8')) / mib;
    console.log(
      `with the kernel's cache of its files, at the peak: ${most.toFixed(0)} MB of ${values['limit-mib']}`,
    );
  }
} finally {
  await program.stop();
  origin.closeAllConnections();
  origin.close();
  rmSync(work, { recursive: true, force: true });
  if (group !== undefined) rmdirSync(group);
}
