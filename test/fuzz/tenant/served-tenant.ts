// The served tenant: a few ordinary exports with short link lifetimes, and a watch of their links and conditions. The
// watch compares each new link with the time at which it was due, and reports every expired one.

import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { parsePublishedBundle } from '#bundle/published-bundle.ts';
import type { KubeClient } from './kube-client.ts';
import { type KubeObject, secret, staticExport } from './objects.ts';

export const lifetimeMs = 24_000;
const atPercent = 50;

export interface ServedFigures {
  readonly name: string;
  /** Links after the first. */
  readonly refreshes: number;
  /** Beyond the time at which it was due; negative where each came before. */
  readonly latestMs: number;
  /** Links found expired, and resources no longer ready: as text, with times. */
  readonly complaints: readonly string[];
  /** From an order to the export that answers it; of orders that are done. */
  readonly exportsMs: readonly number[];
  /** How long the order that is open has been waiting. */
  readonly openMs: number | undefined;
}

interface Link {
  readonly issuedAt: number;
  readonly expiresAt: number;
  readonly version: string;
}

const secretShape = z.object({ data: z.record(z.string(), z.string()) });
const exportShape = z.object({
  status: z.object({
    lastCompletedRequest: z.string().optional(),
    conditions: z
      .array(z.object({ type: z.string(), status: z.string(), reason: z.string(), message: z.string() }))
      .optional(),
  }),
});

/** @param apis base URL by name of export; the operator's own where absent */
export function servedObjects(
  apis: Readonly<Record<string, string | undefined>>,
  key: string,
): readonly KubeObject[] {
  return [
    secret('export-api', { apiKey: key }),
    ...Object.entries(apis).map(([name, baseUrl]) =>
      staticExport(name, {
        domain: `${name}.served.example.com`,
        api: { ...(baseUrl !== undefined && { baseUrl }), keySecretRef: { name: 'export-api' } },
        linkRefresh: { atPercent, minInterval: '1s' },
      }),
    ),
  ];
}

export interface ServedWatch {
  /** Whether each has its first link. */
  isPublished(): boolean;
  /** Refreshes of whichever has fewest. */
  fewestRefreshes(): number;
  /** Orders a new export of each, unless one is open. */
  order(): Promise<void>;
  figures(): readonly ServedFigures[];
  stop(): Promise<void>;
}

export function watchServed(
  client: KubeClient,
  namespace: string,
  objects: readonly KubeObject[],
): ServedWatch {
  const stopped = new AbortController();
  const exports = objects.filter(({ kind }) => kind === 'StaticExport');
  const watched = exports.map((object) => ({
    object,
    name: object.metadata.name,
    links: [] as Link[],
    latestMs: Number.NEGATIVE_INFINITY,
    complaints: new Set<string>(),
    exportsMs: [] as number[],
    order: undefined as { readonly token: string; readonly since: number } | undefined,
    wasReady: false,
  }));

  const look = async (one: (typeof watched)[number]): Promise<void> => {
    const bundle = secretShape.safeParse(
      await client.read(`/api/v1/namespaces/${namespace}/secrets/${one.name}-bundle`),
    );
    const found = exportShape.safeParse(
      await client.read(`/apis/staticexport.dev/v1alpha1/namespaces/${namespace}/staticexports/${one.name}`),
    );
    const now = Date.now();
    if (found.success) {
      const ready = found.data.status.conditions?.find(({ type }) => type === 'Ready');
      if (ready?.status === 'True') one.wasReady = true;
      else if (one.wasReady)
        one.complaints.add(`${one.name} is no longer ready: ${ready?.reason}: ${ready?.message}`);
      if (one.order !== undefined && found.data.status.lastCompletedRequest === one.order.token) {
        one.exportsMs.push(now - one.order.since);
        one.order = undefined;
      }
    }
    if (!bundle.success) {
      if (one.links.length > 0) one.complaints.add(`${one.name} lost its output`);
      return;
    }
    const text = Buffer.from(bundle.data.data['bundle.json'] ?? '', 'base64').toString('utf8');
    const { link, version } = parsePublishedBundle(text);
    if (link === undefined) {
      one.complaints.add(`${one.name} publishes no link`);
      return;
    }
    const { issuedAt, expiresAt } = link;
    const last = one.links.at(-1);
    // Whole seconds: what ends within this one is not expired yet.
    if (now > expiresAt + 1_000) one.complaints.add(`${one.name} had an expired link`);
    if (last?.issuedAt === issuedAt) return;
    if (last !== undefined) {
      const dueAt = last.issuedAt + ((last.expiresAt - last.issuedAt) * atPercent) / 100;
      one.latestMs = Math.max(one.latestMs, issuedAt - dueAt);
    }
    one.links.push({ issuedAt, expiresAt, version });
  };

  const run = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      for (const one of watched) {
        await look(one).catch((error: unknown) =>
          one.complaints.add(`${one.name} could not be read: ${String(error)}`),
        );
      }
      await sleep(200);
    }
  };
  const running = run();
  return {
    isPublished: () => watched.every(({ links, wasReady }) => links.length > 0 && wasReady),
    fewestRefreshes: () => Math.min(...watched.map(({ links }) => links.length - 1)),
    order: async () => {
      for (const one of watched.filter(({ order }) => order === undefined)) {
        const token = `order-${Date.now()}`;
        const { metadata } = one.object;
        const annotations = { 'staticexport.dev/requestedAt': token };
        await client.write({
          verb: 'apply',
          object: { ...one.object, metadata: { ...metadata, annotations } },
        });
        one.order = { token, since: Date.now() };
      }
    },
    figures: () =>
      watched.map(({ name, links, latestMs, complaints, exportsMs, order }) => ({
        name,
        refreshes: Math.max(0, links.length - 1),
        latestMs,
        complaints: [...complaints],
        exportsMs,
        openMs: order && Date.now() - order.since,
      })),
    stop: async () => {
      stopped.abort();
      await running;
    },
  };
}
