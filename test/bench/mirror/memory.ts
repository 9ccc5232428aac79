// Highest resident memory of the operator while it inspects a bundle of 126 MB and copies it to a registry or a bucket,
// against the same operator that only inspects it. The built program with one arena, as in the image, on a real API server.
// A fresh operator for each figure, by turns.
//
//   node test/bench/mirror/memory.ts [--rounds 3]

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startChartedCluster } from '../../integration/operator/charted-cluster.ts';
import { type OperatorProcess, startOperator } from '../../integration/operator/operator-process.ts';
import { createReader } from '../../integration/operator/resource-reader.ts';
import { goodKey, startVendor } from '../../integration/operator/scripted-vendor.ts';
import { startDockerRegistry } from '../../support/docker-registry.ts';
import { startVersitygw } from '../../support/versitygw.ts';
import { buildServer } from '../bundle/built-server.ts';
import { packMadeSite } from '../bundle/made-site.ts';

const namespace = 'bench';
const { values } = parseArgs({ options: { rounds: { type: 'string', default: '3' } } });
const rounds = Number(values.rounds);

async function main(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'mirror-memory-'));
  const program = join(dirname(buildServer(join(folder, 'programs'))), 'operator.mjs');
  const [vendor, registry, s3] = await Promise.all([startVendor(), startDockerRegistry(), startVersitygw()]);
  const cluster = await startChartedCluster({
    ownControlPlane: true,
    namespaces: [namespace],
    watchNamespaces: [namespace],
  });
  const { kubectl, apply } = cluster;
  const flags = [
    `--api-base-url=${vendor.url}`,
    '--allow-private-links',
    `--allowed-mirror-hosts=http://${registry.host},http://${new URL(s3.origin).host}`,
    '--allow-private-mirror-hosts',
    `--watch-namespaces=${namespace}`,
  ];
  const secretRef = { name: 'mirror' };
  const bucket = { endpoint: s3.origin, bucket: 'docs', pathStyle: true, secretRef };
  const kinds = [
    ['inspection alone', () => ({})],
    [
      'registry',
      (at: number) => ({ mirror: { oci: { repository: `${registry.host}/docs/${at}`, secretRef } } }),
    ],
    ['bucket', (at: number) => ({ mirror: { s3: { ...bucket, prefix: `docs/${at}` } } })],
  ] as const;

  const measure = async (name: string, spec: object): Promise<readonly [waiting: number, peak: number]> => {
    const env = {
      NODE_ENV: 'production',
      NODE_COMPILE_CACHE: join(folder, 'compiled'),
      MALLOC_ARENA_MAX: '1',
    };
    const operator = await startOperator(cluster, flags, { program, env, logLevel: 'warn' });
    try {
      await sleep(5_000);
      const waiting = await memoryOf(operator, 'VmRSS');
      // proc(5): the peak starts again at the current size.
      await writeFile(`/proc/${operator.child.pid}/clear_refs`, '5');
      await apply(staticExport(name, spec));
      await createReader(cluster, namespace).awaitCondition(name, 'Ready', 'True', 'Published', 300_000);
      return [waiting, await memoryOf(operator, 'VmHWM')];
    } finally {
      await operator.child.stop();
      await kubectl(['delete', 'sx', name, '-n', namespace]);
    }
  };

  try {
    await s3.createBucket('docs');
    const archive = await readFile(packMadeSite(folder));
    const { accessKeyId, secretAccessKey } = s3.rootKey;
    await apply(
      secret('export-api', { apiKey: goodKey }),
      secret('mirror', { username: 'docs', password: 'docs', accessKeyId, secretAccessKey }),
    );
    const found = new Map(kinds.map(([kind]): [string, (readonly [number, number])[]] => [kind, []]));
    for (let round = 0; round < rounds; round += 1) {
      for (const [at, [kind, specOf]] of kinds.entries()) {
        const name = `site-${round}-${at}`;
        vendor.script(`${name}.example.com`, { archive });
        found.get(kind)?.push(await measure(name, specOf(round)));
      }
    }
    for (const [kind, figures] of found) {
      const [waiting, peaks] = [figures.map(([one]) => one), figures.map(([, peak]) => peak)];
      console.log(
        `${kind}: ${median(waiting)} MB waiting, ${median(peaks)} MB at most (${peaks.join(', ')})`,
      );
    }
  } finally {
    await cluster.stop();
    await Promise.all([vendor.close(), registry.close(), s3.close()]);
    await rm(folder, { recursive: true, force: true });
  }
}

const secret = (name: string, stringData: Readonly<Record<string, string>>) => ({
  ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, stringData },
});

const staticExport = (name: string, spec: object) => ({
  apiVersion: 'staticexport.dev/v1alpha1',
  kind: 'StaticExport',
  metadata: { name, namespace },
  spec: { domain: `${name}.example.com`, api: { keySecretRef: { name: 'export-api' } }, ...spec },
});

/** In MB, of the process with its threads. */
async function memoryOf({ child }: OperatorProcess, field: 'VmRSS' | 'VmHWM'): Promise<number> {
  const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
  return Math.round(Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1]) / 1024);
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}

await main();
