// `npm run demo:cluster`: the main job on embedded defaults, with the real programs on a real control plane. Refuses a machine
// that can build none; `npm run demo` needs none.
// Runs until Ctrl-C; with --once all steps unattended, and exit code 0 only if every claim was confirmed.

import { parseArgs } from 'node:util';
import { createClaims, insist } from '../../src/cli/demo/claims.ts';
import { findSecrets, secretsOf } from '../../src/cli/demo/secret-search.ts';
import { createProgress } from '../../src/cli/output/progress.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import {
  type DemoEnvironment,
  type DemoOptions,
  readMountedLink,
  readOutputs,
  resourceName,
  startEnvironment,
} from './environment.ts';
import { readMemoryMiB } from './programs.ts';
import {
  publishEdit,
  publishFirst,
  requestWithoutEdit,
  restartWithVendorGone,
  watchRefreshes,
} from './story.ts';

const usage = `npm run demo:cluster -- [--once] [--context NAME] [--origin URL]

  --once           run every step unattended; exit 0 only if every claim holds
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
    return { isOnce: values.once, context: values.context, origin: values.origin?.replace(/\/+$/, '') };
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : 'wrong usage'}\n\n${usage}`);
    process.exit(2);
  }
}

const options = readOptions();
const progress = createProgress(process.stdout, systemClock, 'none', process.stdout.isTTY === true);
const claims = createClaims(progress, systemClock, new AbortController().signal);
const shown = { claims, progress };
const links = new Set<string>();
let environment: DemoEnvironment | undefined;
let stopping: Promise<void> | undefined;

async function stop(): Promise<void> {
  stopping ??= (async () => {
    progress.end();
    await environment?.stop();
  })();
  await stopping;
}
process.on('uncaughtException', (error) => {
  process.stdout.write(`\n${error.stack ?? error.message}\n`);
  stop().then(
    () => process.exit(1),
    () => process.exit(1),
  );
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    progress.note('   Stopping…');
    stop().then(
      () => process.exit(130),
      () => process.exit(130),
    );
  });
}

try {
  environment = await startEnvironment(options, shown);
  showStatus(environment);
  await publishFirst(environment, shown);
  if (options.isOnce) await runOtherSteps(environment);
  else await stayLive(environment);
  await stop();
  process.exit(0);
} catch (error) {
  if (stopping === undefined) {
    progress.end();
    console.error(error);
    for (const [name, program] of environment?.programs ?? [])
      console.error(`last lines of ${name}:\n${program.tail()}`);
  }
  await stop();
  process.exit(1);
}

async function runOtherSteps(environment: DemoEnvironment): Promise<void> {
  await publishEdit(environment, shown);
  await requestWithoutEdit(environment, shown);
  await watchRefreshes(environment, shown, links);
  const memory = await readMemory(environment);
  const pages = await readAdminPages(environment);
  await restartWithVendorGone(environment, shown);
  links.add((await readMountedLink(environment)).search.slice(1));
  await claims.check(
    'searching for the key and the links',
    async () => {
      const texts = new Map([...pages, ...(await readOutputs(environment))]);
      const found = findSecrets(texts, secretsOf(environment.apiKey, links));
      insist(found.length === 0, `a key or a link is in ${found.join(', ')}`);
      return texts.size;
    },
    (count) => `the key and ${links.size} links are in none of ${count} logs, objects, events and metrics`,
  );
  progress.note(`   resident memory: ${memory}`);
  progress.end();
  progress.note(`All ${claims.list.length} claims hold, after ${Math.round(process.uptime())} s.`);
}

async function readAdminPages(environment: DemoEnvironment): Promise<ReadonlyMap<string, string>> {
  const { operatorAdminUrl, bundleServerAdminUrl, visitor } = environment;
  const urls = ['/metrics', '/readyz'].map((path) => `${operatorAdminUrl}${path}`);
  urls.push(...['/metrics', '/status', '/readyz'].map((path) => `${bundleServerAdminUrl}${path}`));
  const texts = urls.map(async (url) => [url, (await visitor.open(url)).body.toString()] as const);
  return new Map(await Promise.all(texts));
}

/** Written as they are, because a command that is broken into lines cannot be copied. */
async function stayLive(environment: DemoEnvironment): Promise<void> {
  const { kubectlCommand } = environment.cluster;
  progress.end();
  process.stdout.write(`
   Open ${environment.siteUrl}/

   Watch it, and ask for an export:
     ${kubectlCommand} get sx
     ${kubectlCommand} annotate --overwrite sx ${resourceName} staticexport.dev/requestedAt=$(date +%s)

   Ctrl-C stops everything and leaves nothing behind.

`);
  await new Promise(() => {
    setInterval(() => {}, 60_000);
  });
}

async function readMemory(environment: DemoEnvironment): Promise<string> {
  const parts: string[] = [];
  for (const [name, { pid }] of environment.programs) {
    const memory = await readMemoryMiB(pid);
    if (memory !== undefined) parts.push(`${name} ${memory.now} MiB (peak ${memory.peak})`);
  }
  return parts.join(', ');
}

/** Follows the resource: a line for every change of its job and its link, and how long the link is valid. */
function showStatus(environment: DemoEnvironment): void {
  let lastJob = '';
  let lastIssued = '';
  environment.onStatus(({ job, active }) => {
    const jobText = job?.id === undefined ? '' : `${job.id.slice(0, 12)} ${job.state ?? ''}`;
    if (jobText !== lastJob && jobText !== '')
      progress.note(`   job ${jobText}${job?.pageCount === undefined ? '' : `, ${job.pageCount} pages`}`);
    lastJob = jobText;
    const issued = active?.linkIssueTime ?? '';
    if (issued !== lastIssued && issued !== '') {
      const verb = lastIssued === '' ? 'issued' : 'refreshed';
      progress.note(`   link ${verb}: version ${active?.version}, valid until ${active?.linkExpirationTime}`);
      void readMountedLink(environment).then(
        (link) => links.add(link.search.slice(1)),
        () => {},
      );
    }
    lastIssued = issued;
  });
  setInterval(() => {
    const { job, active } = environment.status() ?? {};
    const leftMs = Date.parse(active?.linkExpirationTime ?? '') - Date.now();
    const left = Number.isNaN(leftMs)
      ? 'no link yet'
      : `the link expires in ${Math.max(0, Math.round(leftMs / 1000))} s`;
    progress.advance(
      job?.progress,
      [
        `job ${job?.state ?? 'none'}`,
        `${job?.pageCount ?? 0} pages`,
        active?.version ?? 'nothing published',
        left,
      ].join(' · '),
    );
  }, 500).unref();
}
