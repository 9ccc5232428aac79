// `npm run demo:cluster`: the main job on embedded defaults, with the real programs on a real control plane. Refuses a machine
// that can build none; `npm run demo` needs none.
// Runs until Ctrl-C; with --once all steps unattended, and exit code 0 only if every claim was confirmed.

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createClaims } from '#cli/demo/claims.ts';
import { type DemoEnvironment, openEnvironment } from '#cli/demo/environment.ts';
import { startAndPublish, tellStory } from '#cli/demo/scenario.ts';
import { createProgress } from '#cli/output/progress.ts';
import { systemClock as clock } from '#platform/runtime/clock.ts';
import { systemRandom as random } from '#platform/runtime/random.ts';
import { removeAfterUs } from '../support/reaper.ts';
import { type DemoCluster, startEmbeddedCluster, useContext } from './demo-cluster.ts';
import { startDocsSite, userSite } from './docs-site.ts';
import { type OperatorLoop, resourceName, startOperatorLoop } from './operator-loop.ts';

interface DemoOptions {
  readonly isOnce: boolean;
  readonly context: string | undefined;
  readonly origin: string | undefined;
  readonly isProjectScoped: boolean;
}

const usage = `npm run demo:cluster -- [--once] [--project-scoped] [--context NAME] [--origin URL]

  --once           run every step unattended; exit 0 only if every claim holds
  --project-scoped use the project-scoped form of the export API
  --context NAME   use this kubeconfig context instead of the embedded control plane
  --origin URL     export this docs site instead of the built one
`;

function readOptions(): DemoOptions {
  try {
    const { values } = parseArgs({
      options: {
        once: { type: 'boolean', default: false },
        context: { type: 'string' },
        origin: { type: 'string' },
        'project-scoped': { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
    if (values.help) {
      process.stdout.write(usage);
      process.exit(0);
    }
    if (values.origin !== undefined && !/^https?:\/\/[^/]+/.test(values.origin)) {
      throw new Error('--origin must be an http:// or https:// URL, for example http://127.0.0.1:4000');
    }
    return {
      isOnce: values.once,
      context: values.context,
      origin: values.origin?.replace(/\/+$/, ''),
      isProjectScoped: values['project-scoped'],
    };
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : 'wrong usage'}\n\n${usage}`);
    process.exit(2);
  }
}

const { isOnce, context, origin, isProjectScoped } = readOptions();
const progress = createProgress(process.stdout, clock, 'none', process.stdout.isTTY === true);
const stopping = new AbortController();
const { signal } = stopping;
const claims = createClaims(progress, clock, signal);
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(name, () => {
    if (!signal.aborted) progress.note('   Stopping…');
    stopping.abort(new Error('stopped'));
  });

const folder = await mkdtemp(join(tmpdir(), 'static-export-demo-'));
removeAfterUs(folder);
const bundleFile = join(folder, 'mount', 'bundle.json');
let demo: DemoEnvironment | undefined;
let loop: OperatorLoop | undefined;
let cluster: DemoCluster | undefined;
try {
  const site =
    origin === undefined
      ? await claims.check(
          'building the docs site',
          () => startDocsSite(join(folder, 'docs')),
          () => 'docs site built with VitePress from the Markdown of undici, pino and this project',
        )
      : userSite(origin, bundleFile);
  const started = await claims.check(
    'starting the control plane',
    () =>
      context === undefined
        ? startEmbeddedCluster((built, all) =>
            progress.advance((built / all) * 100, `building it (once): ${built} of about ${all} packages`),
          )
        : useContext(context),
    ({ title }) => title,
  );
  cluster = started;
  const demoWorker = new URL('../../src/bin/demo-worker.ts', import.meta.url);
  const projectId = isProjectScoped ? '5f0c9a7e1d' : undefined;
  demo = await openEnvironment(
    folder,
    { host: '127.0.0.1', port: 0 },
    { clock, random, env: process.env, demoWorker, signal },
    {
      site,
      startLoop: async (_folder, keyFile) => {
        loop = await startOperatorLoop(started, { bundleFile, keyFile, progress, projectId });
        return loop;
      },
    },
  );
  const story = { demo, claims, progress, clock, signal };
  if (isOnce) {
    await tellStory(story);
    progress.note(`   resident memory: ${await readMemory(demo, loop)}`);
    progress.end();
    progress.note(`All ${claims.list.length} claims hold, after ${Math.round(process.uptime())} s.`);
  } else {
    await startAndPublish(story);
    await stayLive(demo.siteUrl(), started.kubectlCommand);
  }
} catch (error) {
  progress.end();
  process.exitCode = signal.aborted ? 130 : 1;
  if (!signal.aborted) console.error(error);
  for (const [name, text] of signal.aborted ? [] : (demo?.written() ?? []))
    console.error(`last lines of ${name}:\n${text.trim().split('\n').slice(-10).join('\n')}`);
} finally {
  // The environment closes its cluster.
  await (demo === undefined ? cluster?.stop() : demo.close());
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  process.exit();
}

/** Written as they are, because a command that is broken into lines cannot be copied. */
async function stayLive(siteUrl: string, kubectl: string): Promise<void> {
  progress.end();
  process.stdout.write(`
   Open ${siteUrl}/

   Watch it, and ask for an export:
     ${kubectl} get sx
     ${kubectl} annotate --overwrite sx ${resourceName} staticexport.dev/requestedAt=$(date +%s)

   Ctrl-C stops everything and leaves nothing behind.

`);
  const { promise, reject } = Promise.withResolvers<never>();
  signal.addEventListener('abort', () => reject(signal.reason));
  await promise;
}

/** Resident memory of each program, now and at its highest. Linux only. */
async function readMemory({ servers }: DemoEnvironment, operator: OperatorLoop | undefined): Promise<string> {
  const pids = [...servers.values()].map(({ name, pid }): readonly [string, number] => [name, pid]);
  const operatorPid = operator?.operatorPid();
  if (operatorPid !== undefined) pids.push(['operator', operatorPid]);
  const parts = pids.map(async ([name, pid]) => {
    const text = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
    const mib = (field: string): number =>
      Math.round(Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) / 1024);
    return `${name} ${mib('VmRSS')} MiB (peak ${mib('VmHWM')})`;
  });
  return (await Promise.all(parts)).join(', ');
}
