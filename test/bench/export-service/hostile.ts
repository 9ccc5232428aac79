// What a hostile site does to the export service: for each trap the longest time without an answer of /livez (asked
// every 100 ms), the most processor time that the main thread spent in one turn of its loop, the most resident memory,
// and how the job ended. The built program; each trap meets a program of its own, for two minutes at most.
//
//   node test/bench/export-service/hostile.ts [--programs FOLDER] [--only NAME,NAME]

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { z } from 'zod';
import { startProgram } from '../../support/child-program.ts';
import { findFreePort } from '../../support/free-port.ts';

const domain = 'docs.example.com';
const mib = 1024 * 1024;
const crawlTimeoutMs = 60_000;
const patienceMs = 120_000;

const { values } = parseArgs({
  options: {
    programs: { type: 'string', default: join(import.meta.dirname, '../../../dist') },
    only: { type: 'string' },
  },
});

interface Body {
  readonly type: string;
  readonly body: string | Uint8Array;
  readonly coding?: string;
}
type Site = (path: string) => Body | undefined;

const html = (body: string): Body => ({ type: 'text/html', body });
const fill = (piece: (at: number) => string, bytes: number): string => {
  const pieces: string[] = [];
  for (let length = 0; length < bytes; ) {
    const next = piece(pieces.length);
    pieces.push(next);
    length += next.length;
  }
  return pieces.join('');
};
/** A home page that loads one file. */
const loading =
  (tag: string, path: string, file: () => Body): (() => Site) =>
  () => {
    const made = file();
    return (asked) => (asked === '/' ? html(tag) : asked === path ? made : undefined);
  };
/** The home page itself. */
const home = (body: () => string) => (): Site => {
  const made = html(body());
  return (path) => (path === '/' ? made : undefined);
};
const fixed =
  (bodies: Readonly<Record<string, Body>>): Site =>
  (path) =>
    bodies[path];

const sites: Readonly<Record<string, () => Site>> = {
  'plain site': home(() => '<p>one page'),
  'robots.txt: 11,000 rules of wildcards, 300 links of 1,000': () => {
    const rule = (at: number): string => `Disallow: /*${'a*'.repeat(14)}${at}\n`;
    const links = Array.from({ length: 300 }, (_, at) => `<a href="/${'a'.repeat(990)}${at}x">`).join('');
    const text = `User-agent: *\n${Array.from({ length: 11_000 }, (_, at) => rule(at)).join('')}`;
    return fixed({ '/robots.txt': { type: 'text/plain', body: text }, '/': html(links) });
  },
  'page: 20 MB of links': home(() => fill((at) => `<a href="p?${at}">`, 20 * mib)),
  'page: 20 MB of attributes': home(() => `<a ${fill((at) => `x${at} `, 20 * mib)}>`),
  'page: 20 MB of srcset': home(() => `<img srcset="${fill((at) => `${at % 10} 1x,`, 20 * mib)}">`),
  'page: 20 MB of inline script': home(() => `<script>${fill((at) => `"/a/${at}.js",`, 20 * mib)}</script>`),
  'style: 20 MB of url()': loading('<link rel=stylesheet href=a.css>', '/a.css', () => ({
    type: 'text/css',
    body: fill((at) => `url(${at % 10}.png) `, 20 * mib),
  })),
  'script: 20 MB of paths': loading('<script src=a.js></script>', '/a.js', () => ({
    type: 'text/javascript',
    body: fill((at) => `"/b/${at}.js",`, 20 * mib),
  })),
  'script: 20 MB of tables': loading('<script src=a.js></script>', '/a.js', () => ({
    type: 'text/javascript',
    body: fill(() => '"a/"+({1:"b"}[e]||e)+"."+{', 20 * mib),
  })),
  'manifest: 20 MB of icons': loading('<link rel=manifest href=m.webmanifest>', '/m.webmanifest', () => ({
    type: 'application/manifest+json',
    body: `{"icons":[${fill((at) => `{"src":"${at % 10}"},`, 20 * mib)}{"src":"x"}]}`,
  })),
  'data of a page: 20 MB of rows': () => {
    const rows = fill((at) => `${at.toString(16)}:{"a":[1,2]}\n`, 20 * mib);
    return fixed({
      '/': html('<script src=/_next/static/a.js></script>'),
      '/index.txt': { type: 'text/plain', body: '0:{"a":1}' },
      '/__next._tree.txt': { type: 'text/plain', body: rows },
    });
  },
  'sitemap: 48 MB of <loc>, as 50 KB of gzip': () => {
    const sitemap = gzipSync(`<urlset>${'<loc>'.repeat((48 * mib) / 5)}`);
    return fixed({ '/': html('x'), '/sitemap.xml': { type: 'application/xml', body: sitemap } });
  },
  'sitemap: 400,000 addresses that robots.txt disallows': () => {
    const list = Array.from({ length: 400_000 }, (_, at) => `<loc>http://${domain}/x/${at}</loc>`).join('');
    return fixed({
      '/': html('x'),
      '/robots.txt': { type: 'text/plain', body: 'User-agent: *\nDisallow: /x/' },
      '/sitemap.xml': { type: 'application/xml', body: `<urlset>${list}` },
    });
  },
  'page: 150,000 links that robots.txt disallows': () =>
    fixed({
      '/robots.txt': { type: 'text/plain', body: 'User-agent: *\nDisallow: /x/' },
      '/': html(Array.from({ length: 150_000 }, (_, at) => `<a href="/x/${at}">`).join('')),
    }),
  'four files of 120 MB': () => {
    const large = Buffer.alloc(120 * mib, 'x');
    return (path) =>
      path === '/'
        ? html([1, 2, 3, 4].map((at) => `<img src="${at}.png">`).join(''))
        : /^\/\d\.png$/.test(path)
          ? { type: 'image/png', body: large }
          : undefined;
  },
};

const jobShape = z.looseObject({
  jobId: z.string().optional(),
  status: z.string().optional(),
  pageCount: z.number().optional(),
  error: z.string().nullish(),
});

async function meet(name: string, site: Site): Promise<void> {
  const origin = createServer((request, response) => {
    const found = site(request.url ?? '/');
    if (found === undefined) response.writeHead(404).end('nothing here');
    else response.writeHead(200, { 'content-type': found.type }).end(found.body);
  });
  await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
  const address = origin.address();
  const originPort = typeof address === 'object' && address !== null ? address.port : 0;
  const work = mkdtempSync(join(tmpdir(), 'hostile-bench-'));
  writeFileSync(join(work, 'keys.txt'), 'svc_bench\n');
  const [port, adminPort] = [await findFreePort(), await findFreePort()];
  const meter = join(work, 'meter');
  const program = startProgram(process.execPath, {
    args: [
      `--import=${join(import.meta.dirname, 'turn-meter.mjs')}`,
      join(values.programs, 'export-service.mjs'),
      `--listen=127.0.0.1:${port}`,
      `--admin-listen=127.0.0.1:${adminPort}`,
      `--data=${join(work, 'data')}`,
      `--keys-file=${join(work, 'keys.txt')}`,
      `--origin=${domain}=http://127.0.0.1:${originPort}`,
      `--crawl-timeout=${crawlTimeoutMs / 1000}s`,
      '--log-level=error',
    ],
    env: { NODE_ENV: 'production', MALLOC_ARENA_MAX: '1', TURN_METER: meter },
    onLine: (line) => console.log(line),
  });
  const ask = async (method: string, path: string, body?: object): Promise<z.infer<typeof jobShape>> => {
    const headers = { authorization: 'Bearer svc_bench', 'content-type': 'application/json' };
    const payload = body === undefined ? {} : { body: JSON.stringify(body) };
    const answered = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers, ...payload });
    return jobShape.parse(await answered.json());
  };
  try {
    const began = Date.now();
    while (Date.now() - began < 20_000) {
      const isUp = await ask('GET', '/v1/static-export/jobs/none').then(
        () => true,
        () => false,
      );
      if (isUp) break;
      await sleep(100);
    }
    await sleep(500);
    const startedAt = Date.now();
    const { jobId } = await ask('POST', '/v1/static-export/jobs', { domain });
    let job: z.infer<typeof jobShape> = {};
    let longestGapMs = 0;
    let answeredAt = performance.now();
    const deadline = performance.now() + patienceMs;
    while (performance.now() < deadline && job.status !== 'completed' && job.status !== 'failed') {
      const isAnswered = await fetch(`http://127.0.0.1:${adminPort}/livez`, {
        signal: AbortSignal.timeout(Math.max(1, Math.ceil(deadline - performance.now()))),
      }).then(
        ({ ok }) => ok,
        () => false,
      );
      longestGapMs = Math.max(longestGapMs, performance.now() - answeredAt);
      if (isAnswered) answeredAt = performance.now();
      if (!isAnswered || program.hasExited()) break;
      job = await ask('GET', `/v1/static-export/jobs/${jobId}`).catch(() => ({}));
      await sleep(100);
    }
    const tookS = (Date.now() - startedAt) / 1000;
    const peak = /VmHWM:\s+(\d+)/.exec(
      program.hasExited() ? '' : readFileSync(`/proc/${program.pid}/status`, 'utf8'),
    )?.[1];
    await sleep(300);
    const longestTurnMs = Math.max(
      ...readFileSync(meter, 'utf8')
        .trim()
        .split('\n')
        .map((line) => line.split(' ').map(Number))
        .filter(([at = 0]) => at > startedAt)
        .map(([, turnMs = 0]) => turnMs),
    );
    const end = program.hasExited() ? 'the program ended' : (job.error ?? job.status ?? 'no answer');
    console.log(
      `| ${name} | ${longestGapMs.toFixed(0)} | ${longestTurnMs.toFixed(0)} | ${(Number(peak) / 1024).toFixed(0)} | ${tookS.toFixed(1)} | ${end.slice(0, 110)} |`,
    );
  } finally {
    await program.stop('SIGTERM', 1000);
    origin.closeAllConnections();
    origin.close();
    rmSync(work, { recursive: true, force: true });
  }
}

console.log(
  '| site | longest without /livez, ms | longest turn of the main thread, ms of processor | resident at the peak, MB | took, s | job |',
);
console.log('|---|---|---|---|---|---|');
const only = values.only?.split(',');
for (const [name, make] of Object.entries(sites)) {
  if (only === undefined || only.some((part) => name.includes(part))) await meet(name, make());
}
