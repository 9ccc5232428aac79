// Reading what the operator made of a StaticExport, as the administrator, from the API server itself.

import assert from 'node:assert/strict';
import { parsePublishedBundle } from '../../../src/bundle/published-bundle.ts';
import { eventually } from '../../support/eventually.ts';
import { brokenRules } from '../../support/kstatus-rules.ts';
import type { ChartedCluster } from './charted-cluster.ts';

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

/** Of one status, the rules that other programs rely on and that it breaks. */
function judge({ metadata, status }: ReadObject): readonly string[] {
  const { conditions, observedGeneration = -1 } = status ?? {};
  // Not looked at yet, or edited since.
  if (conditions === undefined || observedGeneration !== metadata.generation) return [];
  const judged = conditions.map((one) => ({ ...one, observedGeneration: one.observedGeneration }));
  return brokenRules({ generation: metadata.generation, observedGeneration, conditions: judged }).map(
    (words) => `${metadata.name}: ${words}`,
  );
}

interface ReadObject {
  readonly metadata: { readonly name: string; readonly generation: number };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly conditions?: readonly (Condition & { readonly observedGeneration?: number })[];
  };
}

export function createReader(kubectl: ChartedCluster['kubectl'], namespace: string) {
  let seen = 0;
  const broken = new Set<string>();

  async function read(kind: string, name: string) {
    const { stdout } = await kubectl(['get', kind, name, '-n', namespace, '-o', 'json']);
    const object = JSON.parse(stdout);
    if (object.kind === 'StaticExport') {
      seen += 1;
      for (const words of judge(object)) broken.add(words);
    }
    return object;
  }

  async function condition(name: string, type: string): Promise<Condition | undefined> {
    const conditions: readonly Condition[] = (await read('sx', name)).status?.conditions ?? [];
    return conditions.find((one) => one.type === type);
  }

  const awaitCondition = (name: string, type: string, status: string, reason: string, timeoutMs = 40_000) =>
    eventually(
      `${name} with ${type}=${status}/${reason}`,
      async () => {
        const found = await condition(name, type);
        if (found?.status === status && found.reason === reason) return found;
        throw new Error(JSON.stringify((await read('sx', name)).status));
      },
      { timeoutMs, everyMs: 250 },
    );

  const request = (name: string, token: string) =>
    kubectl([
      'annotate',
      '--overwrite',
      'sx',
      name,
      '-n',
      namespace,
      `staticexport.dev/requestedAt=${token}`,
    ]);

  async function readOutput(name: string) {
    const secret = await read('secret', `${name}-bundle`);
    const text = (key: string): string => Buffer.from(secret.data[key], 'base64').toString('utf8');
    return { secret, text, published: parsePublishedBundle(text('bundle.json')) };
  }

  /** Over every status that was read so far. */
  const assertRulesKept = (): void => {
    assert.ok(seen > 0, 'no status was read');
    assert.deepEqual([...broken], []);
  };

  return { read, condition, awaitCondition, request, readOutput, assertRulesKept };
}
