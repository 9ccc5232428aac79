// `npm run demo:cluster`: the main job on embedded defaults, with the real programs on a real control plane. Refuses a machine
// that can build none; `npm run demo` needs none.
// Runs until Ctrl-C; with --once all steps unattended, and exit code 0 only if every claim was confirmed.

import { parseArgs } from 'node:util';
import {
  type DemoEnvironment,
  type DemoOptions,
  readMountedLink,
  resourceName,
  startWorld,
} from './environment.ts';
import { readAdminPages, searchForSecrets } from './hygiene.ts';
import { readMemoryMiB } from './programs.ts';
import { Screen, seconds } from './screen.ts';
import {
  publishEdit,
  publishFirst,
  requestWithoutEdit,
  restartWithVendorGone,
  watchRefreshes,
} from './story.ts';

const usage = `npm run demo:cluster -- [--once] [--context NAME] [--origin URL]

  --once           tell the story unattended; exit 0 only if all of it was seen
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
const screen = new Screen(process.stdout.isTTY === true);
const links = new Set<string>();
let environment: DemoEnvironment | undefined;
let stopping: Promise<void> | undefined;

async function stop(): Promise<void> {
  stopping ??= (async () => {
    screen.close();
    await environment?.stop();
  })();
  await stopping;
}
process.on('uncaughtException', (error) => {
  screen.line(`\n${error.stack ?? error.message}`);
  stop().then(
    () => process.exit(1),
    () => process.exit(1),
  );
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    screen.line('\n   Stopping…');
    stop().then(
      () => process.exit(130),
      () => process.exit(130),
    );
  });
}

try {
  screen.line('static-export-operator demo\n');
  environment = await startWorld(options, screen);
  showLife(environment);
  await publishFirst(environment, screen);
  if (options.isOnce) await tellRest(environment);
  else await stayLive(environment);
  await stop();
  process.exit(0);
} catch (error) {
  if (stopping === undefined) {
    screen.close();
    screen.line(`\n${error instanceof Error ? error.message : 'failed'}`);
    for (const [name, program] of environment?.programs ?? [])
      screen.line(`\nlast lines of ${name}:\n${program.tail()}`);
  }
  await stop();
  process.exit(1);
}

async function tellRest(environment: DemoEnvironment): Promise<void> {
  await publishEdit(environment, screen);
  await requestWithoutEdit(environment, screen);
  await watchRefreshes(environment, screen, links);
  const memory = await readMemory(environment);
  const pages = new Map([
    ...(await readAdminPages('operator', environment.operatorAdminUrl, ['/metrics', '/readyz'])),
    ...(await readAdminPages('bundle-server', environment.bundleServerAdminUrl, [
      '/metrics',
      '/status',
      '/readyz',
    ])),
  ]);
  await restartWithVendorGone(environment, screen);
  links.add((await readMountedLink(environment)).search);
  const signatures = [...links].map((search) => new URLSearchParams(search).get('signature') ?? search);
  const report = await screen.step(
    'the key and the links are in no log, status, event, metric or ConfigMap',
    async () => {
      const found = await searchForSecrets(environment, [environment.apiKey, ...signatures], pages);
      if (found.hits.length > 0) throw new Error(`a key or a link was found in: ${found.hits.join(', ')}`);
      return found;
    },
  );
  screen.remark(`${report.searched.length} places searched, ${Math.round(report.bytes / 1024)} KiB: 0 hits`);
  screen.remark(`resident memory: ${memory}`);
  screen.line(`\nAll of it was seen, in ${screen.elapsed()}.`);
}

async function stayLive(environment: DemoEnvironment): Promise<void> {
  const { kubectlCommand } = environment.cluster;
  screen.line(`\n   Open ${environment.siteUrl}/\n`);
  screen.line('   Look at it, and ask for an export:');
  screen.line(`     ${kubectlCommand} get sx`);
  screen.line(
    `     ${kubectlCommand} annotate --overwrite sx ${resourceName} staticexport.dev/requestedAt=$(date +%s)\n`,
  );
  screen.line('   Ctrl-C stops everything and leaves nothing behind.\n');
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

/** Follows the resource: remarks on every change, and the live line. */
function showLife(environment: DemoEnvironment): void {
  let lastJob = '';
  let lastIssued = '';
  environment.onStatus(({ job, active }) => {
    const jobText = job?.id === undefined ? '' : `${job.id.slice(0, 12)} ${job.state ?? ''}`;
    if (jobText !== lastJob && jobText !== '')
      screen.remark(`job ${jobText}${job?.pageCount === undefined ? '' : `, ${job.pageCount} pages`}`);
    lastJob = jobText;
    const issued = active?.linkIssueTime ?? '';
    if (issued !== lastIssued && issued !== '') {
      const verb = lastIssued === '' ? 'issued' : 'refreshed';
      screen.remark(
        `link ${verb}: version ${active?.version}, valid until ${active?.linkExpirationTime} (${seconds(performance.now()).trim()})`,
      );
      void readMountedLink(environment).then(
        (link) => links.add(link.search),
        () => {},
      );
    }
    lastIssued = issued;
  });
  setInterval(() => {
    const status = environment.status();
    const expires = Date.parse(status?.active?.linkExpirationTime ?? '');
    screen.live({
      job: status?.job?.state ?? 'none',
      progressPercent: status?.job?.progress ?? 0,
      pages: status?.job?.pageCount ?? 0,
      version: status?.active?.version ?? '',
      linkLeftMs: Number.isNaN(expires) ? undefined : expires - Date.now(),
    });
  }, 500).unref();
}
