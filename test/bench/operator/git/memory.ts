// Memory of the operator, and of its process of git, while it pushes to the largest repository that it accepts: alone, and
// in addition to two inspections of a large archive. The built program, on a real API server, with a real git server. Prints a line for
// each kind of repository and judges nothing.
//
//   node test/bench/operator/git/memory.ts [--shape NAME]

import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';
import { type ChartedCluster, startChartedCluster } from '../../../integration/operator/charted-cluster.ts';
import { type OperatorProcess, startOperator } from '../../../integration/operator/operator-process.ts';
import { createReader } from '../../../integration/operator/resource-reader.ts';
import { goodKey, type ScriptedVendor, startVendor } from '../../../integration/operator/scripted-vendor.ts';
import { mustRun } from '../../../support/command.ts';
import { eventually } from '../../../support/eventually.ts';
import type { GitRepository } from '../../../support/gitops/git-repository.ts';
import { type GitReply, type GitServer, startGitServer } from '../../../support/gitops/git-server.ts';
import { createAuthority } from '../../../support/pki.ts';
import { packMadeSite } from '../../bundle/made-site.ts';

const namespace = 'bench';
const password = 'glpat-of-the-bench';
const largeSites = ['large-0', 'large-1', 'large-2', 'large-3', 'large-4', 'large-5'];
const values = 'staticExport:\n  version: none\n';
const root = join(import.meta.dirname, '../../../..');
const mib = 1024 * 1024;

/** By path. */
type Files = Readonly<Record<string, string>>;

/** Files of one commit; nearly 16 MiB as packed by git, except the first. */
const shapes: Readonly<Record<string, () => Files>> = {
  'a few files': () => ({}),
  '8 MiB, 1,000 files': () => noise(1_000, 8 * mib),
  '16 MiB, 1,000 files': () => noise(1_000, 15.5 * mib),
  '16 MiB, 20,000 files': () => noise(20_000, 14 * mib),
  '16 MiB, 300 files of text': () => prose(300, 15.5 * mib),
  '16 MiB, two files': () => noise(1, 7.7 * mib, 2),
  '110 files of 9 MiB that differ by a line': () => logs(110, 9 * mib),
};

function noise(count: number, bytes: number, copies = 1): Files {
  // Git packs hexadecimal text to a little more than half.
  const size = Math.floor(bytes / count / 1.18);
  const made = Array.from({ length: count * copies }, (_none, at) => {
    const text = randomBytes(size).toString('hex');
    return [`folder-${at % 40}/${Math.floor(at / 40) % 40}/${at}.txt`, text] as const;
  });
  return Object.fromEntries(made);
}

/** Git packs these to kilobytes: deltas of one file. */
function logs(count: number, bytes: number): Files {
  const rest = 'x'.repeat(bytes - 9);
  return Object.fromEntries(
    Array.from({ length: count }, (_none, at) => [`${at}.log`, `${rest}${String(at).padStart(8, '0')}\n`]),
  );
}

/** What another client changes: more than a second fetch may add, so that the operator starts over. */
function renewed(files: Files): Files {
  const some = Object.entries(files).slice(0, Math.ceil(Object.keys(files).length * 0.4));
  return Object.fromEntries(some.map(([path, text]) => [path, text.split('').reverse().join('')]));
}

/** Words that git packs to a little more than a fifth. */
function prose(count: number, bytes: number): Files {
  const words = Array.from({ length: 200 }, () => randomBytes(5).toString('hex'));
  const word = (): string => words[(randomBytes(1)[0] ?? 0) % words.length] ?? 'the';
  const size = (bytes / count) * 4.5;
  const text = (): string => {
    const pieces: string[] = [];
    for (let length = 0; length < size; length += 11) pieces.push(word());
    return pieces.join(' ');
  };
  return Object.fromEntries(
    Array.from({ length: count }, (_none, at) => [`folder-${at % 40}/${at}.txt`, text()]),
  );
}

interface World {
  readonly cluster: ChartedCluster;
  readonly vendor: ScriptedVendor;
  readonly server: GitServer;
  readonly caPem: string;
  readonly compiled: string;
}

async function main(): Promise<void> {
  const { values: flags } = parseArgs({ options: { shape: { type: 'string' } } });
  await promisify(execFile)('npm', ['run', 'build'], { cwd: root });
  const folder = await mkdtemp(join(tmpdir(), 'git-memory-'));
  const authority = await createAuthority();
  const tls = await authority.issueServer({ dns: ['localhost'], ips: ['127.0.0.1'] });
  const server = await startGitServer({ login: { username: 'git', password }, tls });
  const vendor = await startVendor();
  const archive = await readFile(packMadeSite(folder));
  for (const name of largeSites) vendor.script(`${name}.example.com`, { archive });
  const cluster = await startChartedCluster({
    ownControlPlane: true,
    namespaces: [namespace],
    watchNamespaces: [namespace],
  });
  const world = {
    cluster,
    vendor,
    server,
    caPem: authority.certificatePem,
    compiled: join(folder, 'compiled'),
  };
  try {
    for (const [at, [name, files]] of Object.entries(shapes).entries()) {
      if (flags.shape !== undefined && flags.shape !== name) continue;
      const made = files();
      const repository = await server.createRepository(`shape-${at}`, { 'v.yaml': values, ...made });
      console.log(name, await measure(repository, made, world));
    }
  } finally {
    await cluster.stop();
    await vendor.close();
    await server.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function measure(repository: GitRepository, files: Files, world: World) {
  const { cluster, vendor, server } = world;
  const operator = await start(world);
  const { peakOf, resident } = memoryOf(operator);
  const reader = createReader(cluster, namespace);
  const synced = () => reader.awaitCondition('fleet', 'TargetsSynced', 'True', 'Synced', 120_000);
  /** The inspections start when the repository is read. @param beforePush called once, between fetch and push */
  const pushDuringInspections = async (token: string, beforePush?: () => Promise<unknown>): Promise<void> => {
    const held = Promise.withResolvers<void>();
    let isPushed = beforePush === undefined;
    for (const name of largeSites) {
      vendor.script(`${name}.example.com`, { beforeArchive: () => held.promise });
      await reader.request(name, token);
    }
    const before = await repository.read('v.yaml');
    vendor.script('fleet.example.com', { content: { 'index.html': `<h1>${token}</h1>` } });
    server.onRequest = async ({ kind, headers }): Promise<GitReply> => {
      // A comparison of the heads uses version 2 of git's protocol.
      if (kind === 'fetch' && headers['git-protocol'] === undefined) held.resolve();
      if (kind === 'refs-to-push' && !isPushed) {
        isPushed = true;
        await beforePush?.();
      }
      return 'serve';
    };
    try {
      await reader.request('fleet', token);
      await held.promise;
      while ((await repository.read('v.yaml')) === before) await sleep(200);
      await synced();
      await eventually('all inspected', async () => ((await inspecting()) === 0 ? true : undefined), {
        timeoutMs: 120_000,
      });
    } finally {
      held.resolve();
      server.onRequest = () => 'serve';
    }
  };
  const inspecting = async (): Promise<number> =>
    Number(/^staticexport_inspections_active (\S+)$/m.exec((await operator.get('/metrics')).text)?.[1]);
  const packed = await packedMib(repository);
  try {
    await sleep(5_000);
    const waiting = await resident();
    const git = { url: repository.url, path: 'v.yaml', secretRef: { name: 'fleet' } };
    const pushing = await peakOf(async () => {
      const targets = [{ name: 'fleet', type: 'Git', git }];
      await cluster.apply(resource('fleet', { promotion: { inspect: 'Never' }, targets }));
      await synced();
    });
    const seconds = await pushSeconds(operator);
    await sleep(5_000);
    const inspections = await peakOf(async () => {
      await cluster.apply(...largeSites.map((name) => resource(name)));
      for (const name of largeSites) await reader.awaitCondition(name, 'Ready', 'True', 'Published', 120_000);
    });
    const both = await peakOf(() => pushDuringInspections('both'));
    const startedOver = await peakOf(() =>
      pushDuringInspections('again', () => repository.commit(renewed(files))),
    );
    return { packed, waiting, pushing, seconds, inspections, both, startedOver };
  } finally {
    await cluster.kubectl(['delete', 'sx,secret,configmap', '--all', '-n', namespace]);
    await operator.child.stop();
  }
}

async function start({ cluster, vendor, server, caPem, compiled }: World): Promise<OperatorProcess> {
  const secret = (name: string, stringData: object) => ({
    ...{ apiVersion: 'v1', kind: 'Secret', stringData },
    metadata: { name, namespace },
  });
  await cluster.apply(
    secret('export-api', { apiKey: goodKey }),
    secret('fleet', { token: password, 'ca.crt': caPem }),
  );
  const flags = [
    `--api-base-url=${vendor.url}`,
    '--allow-private-links',
    '--allow-private-git-hosts',
    `--allowed-git-hosts=${new URL(server.origin).host}`,
    `--watch-namespaces=${namespace}`,
    // A namespace does not take the last free slot, so this makes two at a time.
    '--inspect-concurrency=3',
  ];
  // As the image has it: what V8 compiled is kept for the next start, and one arena serves all threads.
  const env = { NODE_ENV: 'production', NODE_COMPILE_CACHE: compiled, MALLOC_ARENA_MAX: '1' };
  const program = join(root, 'dist/operator.mjs');
  return await startOperator(cluster, flags, { program, env, logLevel: 'warn' });
}

const resource = (name: string, spec: object = {}) => ({
  apiVersion: 'staticexport.dev/v1alpha1',
  kind: 'StaticExport',
  metadata: { name, namespace },
  spec: { domain: `${name}.example.com`, api: { keySecretRef: { name: 'export-api' } }, ...spec },
});

interface Peak {
  /** Resident. */
  readonly operatorMb: number;
  /** Of the process of git, which ends when it was idle: what is its own. */
  readonly gitMb: number;
}

function memoryOf({ child }: OperatorProcess) {
  const megabytes = async (pid: number | string, name: string): Promise<number> => {
    const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
    return Math.round(Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0) / 1024);
  };
  const operator = `${child.pid}`;
  const ofGit = async (): Promise<number> => {
    const children = await readFile(`/proc/${operator}/task/${operator}/children`, 'utf8');
    const each = children
      .split(' ')
      .filter((pid) => pid !== '')
      .map((pid) => megabytes(pid, 'RssAnon'));
    return Math.max(0, ...(await Promise.all(each)));
  };
  return {
    resident: () => megabytes(operator, 'VmRSS'),
    peakOf: async (work: () => Promise<void>): Promise<Peak> => {
      // proc(5): the peak starts again at the current size.
      await writeFile(`/proc/${operator}/clear_refs`, '5');
      let gitMb = 0;
      const looking = setInterval(async () => {
        gitMb = Math.max(gitMb, await ofGit());
      }, 10);
      await work().finally(() => clearInterval(looking));
      return { operatorMb: await megabytes(operator, 'VmHWM'), gitMb };
    },
  };
}

/** Of the git tasks so far: the push alone. */
async function pushSeconds(operator: OperatorProcess): Promise<number> {
  const { text } = await operator.get('/metrics');
  return Number(/^staticexport_git_task_duration_seconds_sum (\S+)$/m.exec(text)?.[1]);
}

/** As git packs the head for a client without history. */
async function packedMib({ folder }: GitRepository): Promise<number> {
  const copy = `${folder}-copy`;
  await mustRun(['git', 'clone', '--quiet', '--bare', '--depth=1', `file://${folder}`, copy]);
  const [, size = ''] =
    /size-pack: (\d+)/.exec(await mustRun(['git', '-C', copy, 'count-objects', '-v'])) ?? [];
  return Number(size) / 1024;
}

await main();
