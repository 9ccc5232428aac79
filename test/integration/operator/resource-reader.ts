// Reads the results of a StaticExport from the API server, as the administrator.

import assert from 'node:assert/strict';
import { type PublishedBundle, type PublishedLink, parsePublishedBundle } from '#bundle/published-bundle.ts';
import { eventually } from '../../support/eventually.ts';
import type { KubeApi } from '../../support/kube-api.ts';
import { type Condition, judgeStatus } from './status-judge.ts';

interface SeenEvent {
  readonly regarding: { readonly name: string };
  readonly type: string;
  readonly reason: string;
  readonly note: string;
}

/** The link of a bundle that is published with one. */
export function requirePublishedLink({ version, link }: PublishedBundle): PublishedLink {
  return link ?? assert.fail(`version ${version} is published without a link`);
}

/** @param limitMs timeout of a wait that sets none; less than the minute after which all is checked again */
export function createReader({ api }: { readonly api: KubeApi }, namespace: string, limitMs = 55_000) {
  let seen = 0;
  const broken = new Set<string>();

  async function read(kind: string, name: string) {
    const object = await api.read(kind, name, namespace);
    if (object.kind === 'StaticExport') {
      seen += 1;
      for (const words of judgeStatus(object)) broken.add(words);
    }
    return object;
  }

  async function condition(name: string, type: string): Promise<Condition | undefined> {
    return conditionIn((await read('sx', name)).status, type);
  }

  const awaitCondition = (name: string, type: string, status: string, reason: string, timeoutMs = limitMs) =>
    eventually(
      `${name} with ${type}=${status}/${reason}`,
      async () => {
        const { status: seenStatus } = await read('sx', name);
        const found = conditionIn(seenStatus, type);
        if (found?.status === status && found.reason === reason) return found;
        throw new Error(JSON.stringify(seenStatus));
      },
      { timeoutMs },
    );

  const annotate = (name: string, annotations: Readonly<Record<string, string>>): Promise<unknown> =>
    api.patch('sx', name, { metadata: { annotations } }, { namespace });

  const request = (name: string, token: string) => annotate(name, { 'staticexport.dev/requestedAt': token });

  /** The events of one resource, from events.k8s.io. */
  async function eventsOf(name: string): Promise<readonly SeenEvent[]> {
    const items: readonly SeenEvent[] = await api.list('events.events.k8s.io', namespace);
    return items.filter(({ regarding }) => regarding.name === name);
  }

  async function readOutput(name: string) {
    const secret = await read('secret', `${name}-bundle`);
    const text = (key: string): string => Buffer.from(secret.data[key], 'base64').toString('utf8');
    return { secret, text, published: parsePublishedBundle(text('bundle.json')) };
  }

  /** For every status that was read so far. */
  const assertRulesKept = (): void => {
    assert.ok(seen > 0, 'no status was read');
    assert.deepEqual([...broken], []);
  };

  return { read, condition, awaitCondition, annotate, request, eventsOf, readOutput, assertRulesKept };
}

function conditionIn(
  status: { readonly conditions?: readonly Condition[] } | undefined,
  type: string,
): Condition | undefined {
  return status?.conditions?.find((one) => one.type === type);
}
