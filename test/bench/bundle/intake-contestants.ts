// Who is measured at taking an archive in, each by one function that does it once. The tools in processes of their
// own, Node's gunzip in this one, ours through its threads as the program uses them, and as the program itself.

import { execFileSync } from 'node:child_process';
import { createReadStream, mkdirSync, openSync, rmSync, statSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { pathToFileURL } from 'node:url';
import { createGunzip } from 'node:zlib';
import { defaultLimits } from '#bundle/limits.ts';
import { prepareInWorker } from '#bundle/prepare/preparation.ts';
import { checkInWorker, rememberWritten } from '#bundle/store/checking.ts';
import { openBundleStore } from '#bundle/store/store.ts';
import { startProgram } from '../../support/child-program.ts';
import { findFreePort } from '../../support/free-port.ts';
import { requireLink } from '../../support/storage-server.ts';
import { type Contestant, processorMsOf, type Spent, timed } from './measure.ts';

export const names = {
  gzip: 'gunzip alone: gzip -dc',
  zlib: 'gunzip alone: Node’s zlib',
  tar: 'tar xzf to disk',
  inspected: 'ours: tar.gz → inspected',
  ready: 'ours: tar.gz → ready',
  readyZst: 'ours: tar.zst → ready',
  readyZip: 'ours: zip → ready',
  cold: 'ours: program, tar.gz → first 200',
  start: 'ours: program, from disk → first 200',
};

/** Paths of one site, packed in each way. */
export interface Archives {
  readonly gz: string;
  readonly zst: string;
  readonly zip: string;
}

export interface Field {
  /** A folder of the benchmark's own. */
  readonly folder: string;
  /** The built server; the worker's program is beside it. */
  readonly program: string;
  readonly archives: Archives;
  /** What was read, once it has been. */
  facts?: string;
}

export function contestantsOf(field: Field): readonly Contestant[] {
  const { folder, program, archives } = field;
  const store = join(folder, 'store');
  const unpacked = join(folder, 'unpacked');
  const devNull = openSync('/dev/null', 'w');
  const worker = pathToFileURL(join(dirname(program), 'bundle-worker.mjs'));
  const afresh = (path: string): string => {
    rmSync(path, { recursive: true, force: true });
    mkdirSync(path);
    return path;
  };
  return [
    {
      name: names.gzip,
      run: () =>
        timed(() => execFileSync('gzip', ['-dc', archives.gz], { stdio: ['ignore', devNull, 'inherit'] })),
    },
    { name: names.zlib, run: () => timed(() => gunzipAlone(archives.gz)) },
    {
      name: names.tar,
      run: async () => {
        afresh(unpacked);
        return timed(() => execFileSync('tar', ['-xzf', archives.gz, '-C', unpacked]));
      },
    },
    { name: names.inspected, run: () => timed(() => prepare(worker, archives.gz, undefined)) },
    { name: names.readyZst, run: () => timeReady(field, worker, archives.zst, afresh(store)) },
    { name: names.readyZip, run: () => timeReady(field, worker, archives.zip, afresh(store)) },
    { name: names.ready, run: () => timeReady(field, worker, archives.gz, afresh(store)) },
    { name: names.start, run: () => timeStart(program, 'file:///nowhere.tar.gz', store) },
    {
      name: names.cold,
      run: () => timeStart(program, pathToFileURL(archives.gz).href, afresh(join(folder, 'cold'))),
    },
  ];
}

async function gunzipAlone(archive: string): Promise<void> {
  const decoder = createGunzip({ chunkSize: 1024 * 1024 });
  decoder.resume();
  await pipeline(createReadStream(archive, { highWaterMark: 1024 * 1024 }), decoder);
}

type HandOver = NonNullable<Parameters<typeof prepareInWorker>[2]['handOver']>;

/** @param storeDir `undefined`: inspected only */
function prepare(worker: URL, archive: string, storeDir: string | undefined, handOver?: HandOver) {
  const request = {
    link: requireLink(pathToFileURL(archive).href),
    storeDir,
    expectedDigest: undefined,
    limits: defaultLimits,
    allowPrivateLinks: true,
    allowFileLinks: true,
    extraCaPem: undefined,
    userAgent: 'bench',
  };
  const { signal } = new AbortController();
  return prepareInWorker(worker, request, handOver === undefined ? { signal } : { signal, handOver });
}

/** Until it is open and recorded as the current one, as the program does it. */
async function timeReady(field: Field, worker: URL, archive: string, store: string): Promise<Spent> {
  const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));
  const { check, note } = rememberWritten(checkInWorker(new URL('check-worker.mjs', worker), pause));
  const opened = await openBundleStore(store, { keep: 1, check });
  return timed(async () => {
    const { digest } = await prepare(worker, archive, store, { pause, take: (index) => note(store, index) });
    const bundle = await opened.open(digest);
    if (bundle === undefined) throw new Error('the bundle is not in the store');
    const { files, sizeBytes } = bundle.index;
    field.facts = `${files.length} files, ${megabytes(sizeBytes)}, tar.gz ${megabytes(statSync(field.archives.gz).size)}`;
    await bundle.close();
    await opened.activate(digest, { version: 'bench', activatedAt: 0 });
  });
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

/** The processor's time is the program's, up to its first answer. */
async function timeStart(program: string, link: string, store: string): Promise<Spent> {
  const [port, adminPort] = [await findFreePort(), await findFreePort()];
  let server: ReturnType<typeof startProgram> | undefined;
  const { clockMs } = await timed(async () => {
    const args = [
      '--bundle-url',
      link,
      '--version',
      'bench',
      '--store',
      store,
      '--encodings',
      'none',
      '--drain-linger',
      '0s',
    ];
    const places = ['--listen', `127.0.0.1:${port}`, '--admin-listen', `127.0.0.1:${adminPort}`];
    const child = startProgram(process.execPath, {
      args: [program, ...args, ...places, '--log-level', 'warn'],
      // As the image sets it. There, what V8 compiled is there from the beginning; here, once a first start has ended.
      env: {
        NODE_ENV: 'production',
        MALLOC_ARENA_MAX: '1',
        NODE_COMPILE_CACHE: join(dirname(program), 'compiled'),
      },
    });
    server = child;
    while (!(await isServed(port))) {
      if (child.hasExited()) throw new Error(child.tail());
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  });
  const processorMs = server === undefined ? Number.NaN : processorMsOf(server.pid);
  // Not killed: only an orderly end keeps what V8 compiled.
  await server?.stop();
  return { clockMs, processorMs };
}

/** One connection for all requests of a start. `fetch` took so much of a core that it slowed down what it measured. */
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

function isServed(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const asked = get({ host: '127.0.0.1', port, path: '/', agent }, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode === 200));
      answer.on('error', () => resolve(false));
    });
    asked.on('error', () => resolve(false));
  });
}
