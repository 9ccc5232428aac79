// The bundle server against nginx, Caddy, express.static and sirv on the same files, one core for the server and one for
// the client, in turn in each round: requests a second, latency at 80 % load; and of ours alone the slowest request
// during a swap and while files are variant, memory, and the start from disk.
// `node test/bench/server/serving.ts [--rounds 3] [--seconds 2] [--site FOLDER] [--only start,memory,saturation,steady,changes]`;
// saturation and steady take `--memory-budget 128MiB`
// Needs nginx, caddy and wrk (test/integration/install-packages.sh bench) and a machine with two idle cores.

import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { packFolder, packMadeSite } from '../bundle/made-site.ts';
import { type Contestant, startAll } from './contestants.ts';
import { printMemory, printStart } from './footprint.ts';
import { buildOurs } from './own-server.ts';
import { compareSaturated, scenariosOf } from './saturation.ts';
import { compareAtFourFifths, watchChanges } from './steady.ts';

const parts = ['start', 'memory', 'saturation', 'steady', 'changes'];
const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '2' },
    site: { type: 'string' },
    only: { type: 'string', default: parts.join() },
    // What the chart's limit of memory gives.
    'memory-budget': { type: 'string', default: '128MiB' },
  },
});
const rounds = Number(values.rounds);
const isWanted = (part: string): boolean => values.only.split(',').includes(part);

/** A fixed order that no server's cache of open files likes. */
function shuffled(paths: readonly string[]): readonly string[] {
  return paths
    .map((path, at) => [(at * 2_654_435_761) % 4_294_967_296, path] as const)
    .toSorted(([a], [b]) => a - b)
    .map(([, path]) => path);
}

const work = mkdtempSync(join(tmpdir(), 'bench-site-'));
let servers: readonly Contestant[] = [];
try {
  const archive =
    values.site === undefined ? packMadeSite(work) : packFolder(values.site, join(work, 'site.tar.gz'));
  const root = values.site === undefined ? join(work, 'made') : join(work, 'files');
  if (values.site !== undefined) execFileSync('cp', ['-rL', values.site, root]);
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.(html|js|css)$/.test(name),
  );
  const paths = shuffled(files.filter((name) => name !== '404.html').map((name) => `/${encodeURI(name)}`));
  const isTypical = (path: string): boolean => {
    const { size } = statSync(join(root, decodeURI(path)));
    return path.endsWith('.html') && size > 15_000 && size < 25_000;
  };
  const page = paths.find(isTypical) ?? '/';
  console.log(`${files.length} files; page ${page}; ${rounds} rounds of ${values.seconds} s, 64 connections`);
  const source = ['--bundle-url', pathToFileURL(archive).href, '--version', 'v1'];
  const own = await buildOurs(work, source);

  if (isWanted('start')) await printStart(own, source, rounds);
  if (isWanted('memory')) await printMemory(own, source, paths, work);
  if (isWanted('saturation') || isWanted('steady')) {
    const budget = ['--memory-budget', values['memory-budget']];
    servers = await startAll(work, root, own, [...source, ...budget]);
    const scenarios = scenariosOf(page, paths).slice(0, isWanted('saturation') ? undefined : 1);
    const rates = scenarios.map((one) =>
      compareSaturated(servers, one, rounds, Number(values.seconds), work),
    );
    const [first] = rates;
    if (isWanted('steady') && first !== undefined) compareAtFourFifths(servers, first, [page], rounds, work);
    for (const { program } of servers) await program.stop('SIGKILL');
    execFileSync('find', [root, '-name', '*.gz', '-delete']);
  }
  if (isWanted('changes')) {
    appendFileSync(join(root, 'index.html'), '<!-- the next version -->');
    const next = packFolder(root, join(work, 'next.tar.gz'));
    await watchChanges(own, [archive, next], paths, work);
  }
} finally {
  for (const { program } of servers) await program.stop('SIGKILL');
  rmSync(work, { recursive: true, force: true });
}
