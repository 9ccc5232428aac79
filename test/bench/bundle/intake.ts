// From an archive to a bundle that is ready to be served, against gunzip alone and against unpacking to disk; and
// from a disk that has it to the first page. `node test/bench/bundle/intake.ts [--rounds 5] [--site FOLDER]…`
// Data: the made site, and each folder given (for example the HTML of Debian's python3-doc).

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, openSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { defaultLimits } from '../../../src/bundle/limits.ts';
import { prepareInWorker } from '../../../src/bundle/preparation.ts';
import { openBundleStore } from '../../../src/bundle/store.ts';
import { startProgram } from '../../support/child-program.ts';
import { findFreePort } from '../../support/free-port.ts';
import { requireLink } from '../../support/storage-server.ts';
import { buildServer } from './built-server.ts';
import { packFolder, packMadeSite } from './made-site.ts';
import { type Measured, measureByTurns, printMeasured, type Spent, timed } from './measure.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    site: { type: 'string', multiple: true, default: ['/usr/share/doc/python3/html'] },
  },
});
const rounds = Number(values.rounds);
const worker = new URL('../../../src/bin/bundle-worker.ts', import.meta.url);
const folder = mkdtempSync(join(tmpdir(), 'bench-intake-'));
const program = await buildServer(join(folder, 'program'));

try {
  const made = packMadeSite(folder);
  await bench('made site', made);
  for (const site of values.site) {
    if (!existsSync(site)) console.log(`\n${site} is not here, and left out`);
    else await bench(site, packFolder(site, join(folder, `${basename(site)}.tar.gz`)));
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function bench(title: string, archive: string): Promise<void> {
  const store = join(folder, 'store');
  const unpacked = join(folder, 'unpacked');
  let files = 0;
  let sizeBytes = 0;
  const devNull = openSync('/dev/null', 'w');

  /** @param storeDir `undefined`: inspected only */
  const prepare = (storeDir: string | undefined) =>
    prepareInWorker(
      worker,
      {
        link: requireLink(pathToFileURL(archive).href),
        storeDir,
        expectedDigest: undefined,
        limits: defaultLimits,
        allowPrivateLinks: true,
        allowFileLinks: true,
        extraCaPem: undefined,
        userAgent: 'bench',
      },
      { signal: new AbortController().signal },
    );
  const measured = await measureByTurns(
    [
      {
        name: 'gunzip alone (gzip -dc)',
        run: () =>
          timed(() => execFileSync('gzip', ['-dc', archive], { stdio: ['ignore', devNull, 'inherit'] })),
      },
      {
        name: 'tar xzf to disk',
        run: async () => {
          rmSync(unpacked, { recursive: true, force: true });
          mkdirSync(unpacked);
          return timed(() => execFileSync('tar', ['-xzf', archive, '-C', unpacked]));
        },
      },
      { name: 'ours: archive → inspected', run: () => timed(() => prepare(undefined)) },
      {
        name: 'ours: archive → ready',
        run: async () => {
          rmSync(store, { recursive: true, force: true });
          const opened = await openBundleStore(store, { keep: 1 });
          return timed(async () => {
            const { digest } = await prepare(store);
            const bundle = await opened.open(digest);
            if (bundle === undefined) throw new Error('the bundle is not in the store');
            files = bundle.index.files.length;
            sizeBytes = bundle.index.sizeBytes;
            await bundle.close();
            await opened.activate(digest, { version: 'bench', activatedAt: 0 });
          });
        },
      },
      { name: 'ours: program on disk → first 200', run: () => timeStart(store) },
    ],
    rounds,
  );
  const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1);
  printMeasured(
    `${title}: ${files} files, ${megabytes(sizeBytes)} MB, archive ${megabytes(statSync(archive).size)} MB`,
    measured,
  );
  printGoals(measured);
}

async function timeStart(store: string): Promise<Spent> {
  const [port, adminPort] = [await findFreePort(), await findFreePort()];
  let stop = async (): Promise<void> => {};
  const spent = await timed(async () => {
    const child = startProgram(process.execPath, {
      args: [
        program,
        ...['--bundle-url', 'file:///nowhere.tar.gz', '--version', 'bench', '--store', store],
        ...[
          '--listen',
          `127.0.0.1:${port}`,
          '--admin-listen',
          `127.0.0.1:${adminPort}`,
          '--log-level',
          'warn',
        ],
      ],
    });
    stop = () => child.stop('SIGKILL');
    while (!(await isServed(port))) {
      if (child.hasExited()) throw new Error(child.tail());
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  });
  await stop();
  return spent;
}

function isServed(port: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/`).then(
    async (answer) => (await answer.bytes()).length > 0 && answer.status === 200,
    () => false,
  );
}

function printGoals(measured: readonly Measured[]): void {
  const [gunzip, tar, , ready, start] = measured.map(({ clockMs }) => clockMs);
  if (!gunzip || !tar || !ready || !start) return;
  const say = (goal: string, figure: number, isMet: boolean): void =>
    console.log(`  ${isMet ? 'met    ' : 'NOT MET'} ${goal}: ${figure.toFixed(2)}`);
  say('archive → ready ≤ 1.3 × gunzip', ready / gunzip, ready / gunzip <= 1.3);
  say('archive → ready ≥ 3.5 × faster than tar xzf', tar / ready, tar / ready >= 3.5);
  say('start from disk to first 200 ≤ 0.5 s', start / 1000, start <= 500);
}
