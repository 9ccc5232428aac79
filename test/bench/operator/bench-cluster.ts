// A real API server with as many StaticExports as are asked for, all of one domain, made and edited over our own
// transport with the administrator's rights; and a stopwatch for what the operators write back.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openConnection } from '#operator/kube/transport/connection.ts';
import { secrets, staticExports } from '#operator/kube/transport/resource-path.ts';
import { createTransport, type Transport } from '#operator/kube/transport/transport.ts';
import { readWatchEvents } from '#operator/kube/watch/watch-stream.ts';
import { systemClock } from '#platform/runtime/clock.ts';
import { numberAt, recordAt, textAt } from '#platform/wire/json-fields.ts';
import { isRecord } from '#platform/wire/json-text.ts';
import { startControlPlane, type TestCluster } from '../../support/cluster.ts';

export interface BenchCluster {
  readonly kubeconfig: string;
  /** Makes them, and tells how many there are as it goes on. */
  fill(count: number, onProgress: (made: number) => void): Promise<void>;
  /** Begins to look at what the operator writes back; only then can edits be waited for. */
  observe(): void;
  /** How many `kubectl get` shows as ready, and how long that takes. */
  countReady(): Promise<{ readonly ready: number; readonly tookMs: number }>;
  /** Changes a spec and resolves with the ms until the operator has observed it. */
  editAndWait(name: string): Promise<number>;
  stop(): Promise<void>;
}

const namespace = 'bench';
const never = new AbortController().signal;
const crd = join(import.meta.dirname, '../../../crds/staticexports.staticexport.dev.yaml');
const makersAtOnce = 16;

export async function startBenchCluster(): Promise<BenchCluster> {
  const cluster = await startControlPlane();
  const apply = (input: string) => cluster.kubectl(['apply', '--server-side', '-f', '-'], { input });
  await apply(await readFile(crd, 'utf8'));
  await cluster.kubectl(['create', 'namespace', namespace]);
  await cluster.kubectl([
    'wait',
    '--for=condition=Established',
    'crd/staticexports.staticexport.dev',
    '--timeout=30s',
  ]);
  const connection = openConnection({
    kubeconfig: cluster.kubeconfig,
    context: undefined,
    isInCluster: false,
  });
  const transport = createTransport(connection, { clock: systemClock, timeoutMs: 30_000 });
  await transport.call(
    {
      verb: 'create',
      method: 'POST',
      address: { resource: secrets, namespace },
      body: {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'export-api' },
        stringData: { apiKey: 'svc_bench' },
      },
    },
    never,
  );
  return benchCluster(cluster, transport);
}

function benchCluster(cluster: TestCluster, transport: Transport): BenchCluster {
  let observed: Observed | undefined;
  return {
    kubeconfig: cluster.kubeconfig,
    observe: () => {
      observed ??= watchObserved(transport);
    },
    fill: async (count, onProgress) => {
      let next = 0;
      const make = async (): Promise<void> => {
        for (let index = next++; index < count; index = next++) {
          await transport.call(
            {
              verb: 'create',
              method: 'POST',
              address: { resource: staticExports, namespace },
              body: {
                apiVersion: 'staticexport.dev/v1alpha1',
                kind: 'StaticExport',
                metadata: { name: `docs-${index}` },
                spec: {
                  domain: 'docs.example.com',
                  api: { keySecretRef: { name: 'export-api' } },
                  promotion: { inspect: 'Never' },
                },
              },
            },
            never,
          );
          onProgress(index + 1);
        }
      };
      await Promise.all(Array.from({ length: makersAtOnce }, make));
    },
    countReady: async () => {
      const startedAt = performance.now();
      const { stdout } = await cluster.kubectl(['get', 'sx', '--namespace', namespace, '--no-headers']);
      const ready = stdout.split('\n').filter((line) => /^\S+\s+True\s/.test(line)).length;
      return { ready, tookMs: performance.now() - startedAt };
    },
    editAndWait: async (name) => {
      if (observed === undefined) throw new Error('observe() comes first');
      const sentAt = performance.now();
      const stored = await transport.call(
        {
          verb: 'patch',
          method: 'PATCH',
          address: { resource: staticExports, namespace, name },
          contentType: 'application/merge-patch+json',
          body: { spec: { historyLimit: 2 + (Math.round(sentAt) % 17) } },
        },
        never,
      );
      const generation = isRecord(stored) ? (numberAt(recordAt(stored, 'metadata'), 'generation') ?? 0) : 0;
      return (await observed.when(name, generation)) - sentAt;
    },
    stop: async () => {
      observed?.stop();
      await transport.close();
      await cluster.stop();
    },
  };
}

interface Observed {
  /** When (`performance.now`) a status was seen that speaks of this generation. */
  when(name: string, generation: number): Promise<number>;
  stop(): void;
}

function watchObserved(transport: Transport): Observed {
  const stopping = new AbortController();
  const waiting = new Map<string, { readonly generation: number; readonly resolve: (at: number) => void }>();
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const call = {
        verb: 'watch',
        method: 'GET',
        address: { resource: staticExports, namespace },
        query: { watch: '1' },
      } as const;
      for await (const event of readWatchEvents(await transport.stream(call, stopping.signal))) {
        if (event.type === 'BOOKMARK') continue;
        const name = textAt(recordAt(event.object, 'metadata'), 'name') ?? '';
        const seen = numberAt(recordAt(event.object, 'status'), 'observedGeneration') ?? -1;
        const one = waiting.get(name);
        if (one === undefined || seen < one.generation) continue;
        waiting.delete(name);
        one.resolve(performance.now());
      }
    }
  };
  run().catch(() => {});
  return {
    when: (name, generation) =>
      new Promise((resolve) => {
        waiting.set(name, { generation, resolve });
      }),
    stop: () => stopping.abort(),
  };
}
