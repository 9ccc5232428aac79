// Slow readers of every kind against the server as it is shipped, in a memory cgroup with the limit of the site's chart,
// while 50 requests a second of others are answered, each on a connection of its own.
// `node test/bench/server/slow-readers.ts [--counts 300,1000,5000] [--kinds large,medium,…] [--seconds 15] [--server FILE]`
// Sockets count as they do under cgroup v2: there they are part of the limit, under v1 they are counted beside it and
// added here. Needs root on Linux with a memory controller.

import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { parse } from 'yaml';
import { z } from 'zod';
import { makeArchive } from '../../integration/server/archive.ts';
import { startProgram } from '../../support/child-program.ts';
import { eventually } from '../../support/eventually.ts';
import { findFreePort } from '../../support/free-port.ts';
import {
  createCgroups,
  limitMemory,
  memoryCgroupIsMissing,
  readMemory,
  readSocketMemory,
  removeCgroups,
} from '../../support/node/cgroup-tree.ts';
import { buildServer } from '../bundle/built-server.ts';

const { values } = parseArgs({
  options: {
    counts: { type: 'string', default: '300,1000,5000' },
    kinds: { type: 'string', default: 'large,medium,pipelined,ahead,last,heads,idle,http10,trickle' },
    seconds: { type: 'string', default: '15' },
    server: { type: 'string' },
  },
});
const missing = memoryCgroupIsMissing();
if (missing !== false) {
  console.log(`not run: ${missing}`);
  process.exit(1);
}

const mib = 2 ** 20;
const valuesFile = join(import.meta.dirname, '../../../charts/static-export-site/values.yaml');
const { server } = z
  .object({
    server: z.object({
      resources: z.object({ limits: z.object({ memory: z.string() }) }),
      memoryBudget: z.string(),
    }),
  })
  .parse(parse(readFileSync(valuesFile, 'utf8')));
const limitMiB = Number(/^(\d+)Mi$/.exec(server.resources.limits.memory)?.[1]);
const othersPerSecond = 50;
const longestAnswerMs = 10_000;
const cgroup = `slow-readers-${process.pid}`;

const row = ([first = '', ...columns]: readonly string[]): string =>
  first.padEnd(18) + columns.map((column) => column.padStart(16)).join('');

interface Others {
  readonly tookMs: number[];
  /** By what came instead of a page. */
  readonly failures: Map<string, number>;
}

/** One page on a connection of its own, whole and with 200, or a failure. */
function askPage(port: number, others: Others): void {
  const startMs = performance.now();
  const socket = connect(port, '127.0.0.1');
  let text = '';
  let how = 'closed';
  const timer = setTimeout(() => {
    how = 'late';
    socket.destroy();
  }, longestAnswerMs);
  socket.setEncoding('latin1').on('data', (part: string) => {
    text += part;
  });
  socket.on('error', () => {
    how = 'reset';
  });
  socket.once('close', () => {
    clearTimeout(timer);
    if (text.startsWith('HTTP/1.1 200') && text.endsWith('</html>'))
      others.tookMs.push(performance.now() - startMs);
    else {
      const [, status = how] = /^HTTP\/1\.1 (\d+)/.exec(text) ?? [];
      others.failures.set(status, (others.failures.get(status) ?? 0) + 1);
    }
  });
  const page = 1 + Math.floor((startMs * 7) % 30);
  socket.write(`GET /page-${page}.html HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
}

interface Figures {
  readonly rssMiB: number;
  readonly usageMiB: number;
  readonly socketMiB: number;
}

async function look(pid: number): Promise<Figures> {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const { workingSetBytes } = await readMemory(cgroup);
  return {
    rssMiB: Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024,
    usageMiB: workingSetBytes / mib,
    socketMiB: (await readSocketMemory(cgroup)) / mib,
  };
}

const most = (figures: readonly Figures[], of: (one: Figures) => number): string =>
  Math.max(...figures.map(of)).toFixed(0);

async function measure(
  program: string,
  work: string,
  source: readonly string[],
  kind: string,
  count: number,
): Promise<void> {
  const [port, adminPort] = [await findFreePort(), await findFreePort()];
  await createCgroups(cgroup);
  const group = await limitMemory(cgroup, limitMiB * mib);
  const flags = [
    ...['--store', join(work, 'store'), '--encodings', 'none'],
    // By default the server takes a part of the cgroup's limit.
    ...(server.memoryBudget === '' ? [] : ['--memory-budget', `${server.memoryBudget}B`]),
    ...['--listen', `127.0.0.1:${port}`, '--admin-listen', `127.0.0.1:${adminPort}`, '--log-level', 'warn'],
  ];
  const child = startProgram('/bin/sh', {
    args: [
      '-c',
      `echo $$ > ${group}/cgroup.procs; exec "$@"`,
      'sh',
      process.execPath,
      program,
      ...flags,
      ...source,
    ],
    env: { NODE_ENV: 'production', MALLOC_ARENA_MAX: '1' },
  });
  const readers: string[] = [];
  const others: Others = { tookMs: [], failures: new Map() };
  const figures: Figures[] = [];
  let sampling: NodeJS.Timeout | undefined;
  let asking: NodeJS.Timeout | undefined;
  try {
    await eventually('the site is served', async () => {
      return (await fetch(`http://127.0.0.1:${port}/page-1.html`)).ok ? true : undefined;
    });
    sampling = setInterval(
      () =>
        void look(child.pid).then(
          (one) => figures.push(one),
          () => {},
        ),
      100,
    );
    asking = setInterval(() => askPage(port, others), 1000 / othersPerSecond);
    const client = startProgram(process.execPath, {
      args: [join(import.meta.dirname, 'slow-reader-client.ts'), `${port}`, kind, `${count}`],
      onLine: (line) => readers.push(line),
    });
    await Promise.race([
      sleep(60_000),
      (async () => {
        while (readers.length === 0) await sleep(50);
      })(),
    ]);
    await sleep(Number(values.seconds) * 1000);
    const during = [...figures];
    await client.stop('SIGTERM');
    clearInterval(asking);
    await sleep(8000);
    const after = child.hasExited() ? undefined : await look(child.pid);
    if (child.hasExited()) console.log(child.tail());
    const { oomKills } = await readMemory(cgroup);
    const ordered = others.tookMs.toSorted((a, b) => a - b);
    const share = (of: number): string =>
      (ordered[Math.floor((ordered.length - 1) * of)] ?? Number.NaN).toFixed(0);
    console.log(
      row([
        `${kind} × ${count}`,
        `${most(during, ({ rssMiB }) => rssMiB)} → ${after?.rssMiB.toFixed(0) ?? 'ended'}`,
        most(during, ({ usageMiB }) => usageMiB),
        most(during, ({ socketMiB }) => socketMiB),
        most(during, ({ usageMiB, socketMiB }) => usageMiB + socketMiB),
        `${oomKills}`,
        `${ordered.length} / ${[...others.failures].map(([how, count]) => `${count} ${how}`).join() || 0}`,
        `${share(0.5)} / ${share(0.99)}`,
      ]),
    );
  } finally {
    clearInterval(sampling);
    clearInterval(asking);
    await child.stop('SIGKILL');
    await removeCgroups(cgroup);
  }
}

const work = mkdtempSync(join(tmpdir(), 'bench-slow-readers-'));
try {
  const page = (at: number): string =>
    `<!doctype html><title>${at}</title>${'<p>text</p>'.repeat(1800)}</html>`;
  const content = {
    'index.html': page(0),
    // Random, because what unpacks to many times its size is refused.
    'large.bin': randomBytes(5 * mib),
    ...Object.fromEntries(
      Array.from({ length: 40 }, (_, at) => [`medium-${at}.bin`, randomBytes(600 * 1024)]),
    ),
    ...Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`page-${at + 1}.html`, page(at + 1)])),
  };
  const archive = join(work, 'site.tar.gz');
  writeFileSync(archive, await makeArchive(content));
  const source = ['--bundle-url', pathToFileURL(archive).href, '--version', 'v1'];
  const program = values.server ?? buildServer(join(work, 'dist'));
  console.log(`limit ${limitMiB} MiB; MiB at most; others: ${othersPerSecond} pages a second\n`);
  console.log(
    row([
      'readers',
      'RSS, after',
      'cgroup',
      'sockets',
      'together',
      'OOM',
      'closed',
      'others / failed',
      'p50 / p99 ms',
    ]),
  );
  for (const kind of values.kinds.split(',')) {
    for (const count of values.counts.split(',')) await measure(program, work, source, kind, Number(count));
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}
process.exit();
