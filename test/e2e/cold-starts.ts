// Each program of the image started alone on a node, several times, as it comes and without the compiled code that the
// image brings: the medians as a table. COLD_STARTS=9 takes so many rounds. No limit is asserted; a program that does
// not start at all fails.

import { chmod, copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ColdStart, measureColdStart } from '../support/node/cold-start.ts';
import type { TestNodes } from '../support/node/node.ts';
import { kubectl } from '../support/node/pods.ts';
import { words } from '../support/words.ts';
import { packSite } from './small-site.ts';

const rounds = Number(process.env['COLD_STARTS'] ?? 3);
const definition = new URL('../../crds/staticexports.staticexport.dev.yaml', import.meta.url).pathname;

/** The arguments of each program, and where it reports that it is ready. */
const programs: readonly Pick<ColdStart, 'args' | 'url'>[] = [
  {
    args: words(`
      bundle-server --bundle-url=file:///data/site.tar.gz --version=v1 --store=/data/store
      --listen=127.0.0.1:18181 --admin-listen=127.0.0.1:18182 --allow-private-links
    `),
    url: 'http://127.0.0.1:18181/',
  },
  {
    args: [
      'export-service',
      '--keys-file=/data/keys.txt',
      '--data=/data/export-service',
      '--listen=127.0.0.1:18183',
      '--admin-listen=127.0.0.1:18184',
    ],
    url: 'http://127.0.0.1:18184/readyz',
  },
  {
    args: [
      'operator',
      '--kubeconfig=/data/kubeconfig',
      '--lease-namespace=default',
      '--api-base-url=https://export.example.com',
      '--admin-listen=127.0.0.1:18185',
    ],
    url: 'http://127.0.0.1:18185/readyz',
  },
];

const ways: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
  ['as it comes', {}],
  ['without compiled code', { NODE_DISABLE_COMPILE_CACHE: '1' }],
];

export async function tableOfColdStarts(nodes: TestNodes, image: string): Promise<string> {
  await kubectl(nodes, ['apply', '--server-side', `--filename=${definition}`]);
  const folder = join(nodes.folder, 'cold');
  const all = new Map<string, number[]>();
  for (let round = 0; round < rounds; round += 1) {
    for (const [way, env] of ways) {
      for (const program of programs) {
        // Each starts with an empty folder, as a new pod does.
        await rm(folder, { recursive: true, force: true });
        await fill(nodes, folder);
        const name = `${program.args[0]}, ${way}`;
        const readyMs = await measureColdStart(nodes, { image, folder, env, ...program });
        all.set(name, [...(all.get(name) ?? []), readyMs]);
      }
    }
  }
  const lines = [...all].map(([name, times]) => `${name}: ${describe(times)}`);
  return [`from the order to run the container to ready, ms (${rounds} rounds)`, ...lines].join('\n');
}

async function fill(nodes: TestNodes, folder: string): Promise<void> {
  await mkdir(folder);
  await chmod(folder, 0o777);
  await writeFile(join(folder, 'site.tar.gz'), await packSite('cold'));
  await writeFile(join(folder, 'keys.txt'), 'svc_cold\n');
  await copyFile(nodes.kubeconfig, join(folder, 'kubeconfig'));
  await chmod(join(folder, 'kubeconfig'), 0o644);
}

function describe(times: readonly number[]): string {
  const sorted = [...times].sort((one, other) => one - other).map(Math.round);
  return `median ${sorted[Math.floor(sorted.length / 2)]}, from ${sorted[0]} to ${sorted.at(-1)}`;
}
