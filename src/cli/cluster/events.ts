// `events`: what the operator and others reported about one StaticExport, as the Kubernetes API server keeps it (an hour by
// default). Refuses: events of an earlier object of that name, and text that is not printable.

import * as z from 'zod';
import { events } from '#operator/kube/transport/resource-path.ts';
import { printable } from '#platform/wire/printable-text.ts';
import type { CliContext } from '../context.ts';
import { marked } from '../output/paint.ts';
import { type Block, markedLine, prose } from '../output/screen.ts';
import { type ClusterClient, type ClusterFlags, withCluster } from './client.ts';
import type { StaticExportAnswer } from './documents.ts';

const shown = (most: number) => z.string().transform((text) => printable(text, most));
const time = z.string().nullish().catch(undefined);
const eventShape = z.object({
  type: shown(32).catch(''),
  reason: shown(128).catch(''),
  note: shown(1024).catch(''),
  reportingController: shown(128).catch(''),
  eventTime: time,
  series: z.object({ count: z.int(), lastObservedTime: time }).nullish().catch(undefined),
  // Of events that an older client wrote.
  deprecatedCount: z.int().optional().catch(undefined),
  deprecatedFirstTimestamp: time,
  deprecatedLastTimestamp: time,
});
const listShape = z.object({ items: z.array(eventShape).catch([]) });
const pageShape = z
  .object({
    items: z.array(z.unknown()).catch([]),
    metadata: z.object({ continue: z.string().optional().catch(undefined) }).catch({}),
  })
  .catch({ items: [], metadata: {} });

/** Of the object that an event is about, as a field selector may name it. */
export type Regarding = Readonly<Partial<Record<'uid' | 'kind' | 'name', string>>>;
type Reader = Pick<ClusterClient, 'transport' | 'signal'>;

export interface ShownEvent {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly count: number;
  readonly firstTime: string | undefined;
  readonly lastTime: string | undefined;
  readonly reporter: string;
}

/** @returns the newest last. @throws {ClusterError} */
export async function listEvents(
  client: Reader,
  { namespace, uid }: { readonly namespace: string; readonly uid: string },
): Promise<readonly ShownEvent[]> {
  return readEvents({ items: await listRegarding(client, namespace, { uid }) });
}

/** All pages: they are in the order of names, so that the newest may be on the last. @throws {ClusterError} */
export async function listRegarding(
  { transport, signal }: Reader,
  namespace: string,
  regarding: Regarding,
): Promise<readonly unknown[]> {
  const fieldSelector = Object.entries(regarding)
    .map(([field, value]) => `regarding.${field}=${value}`)
    .join(',');
  const found: unknown[] = [];
  for (let next = ''; ; ) {
    const query = { fieldSelector, limit: '500', ...(next !== '' && { continue: next }) };
    const call = { verb: 'list', method: 'GET', address: { resource: events, namespace }, query } as const;
    const { items, metadata } = pageShape.parse(await transport.call(call, signal));
    found.push(...items);
    next = metadata.continue ?? '';
    if (next === '') return found;
  }
}

/** @param list of events.k8s.io/v1 */
export function readEvents(list: unknown): readonly ShownEvent[] {
  const { items } = listShape.catch({ items: [] }).parse(list);
  return items
    .map((one): ShownEvent => {
      const firstTime = secondOf(one.eventTime ?? one.deprecatedFirstTimestamp);
      return {
        type: one.type,
        reason: one.reason,
        message: one.note,
        count: one.series?.count ?? one.deprecatedCount ?? 1,
        firstTime,
        lastTime: secondOf(one.series?.lastObservedTime ?? one.deprecatedLastTimestamp) ?? firstTime,
        reporter: one.reportingController,
      };
    })
    .toSorted((a, b) => ((a.lastTime ?? '') < (b.lastTime ?? '') ? -1 : 1));
}

/** Events are on the microsecond; every other time that commands show is on the second. */
function secondOf(instant: string | null | undefined): string | undefined {
  const at = Date.parse(instant ?? '');
  return Number.isNaN(at) ? undefined : `${new Date(at).toISOString().slice(0, 19)}Z`;
}

export function showEvents(
  values: ClusterFlags,
  [name = '']: readonly string[],
  context: CliContext,
): Promise<StaticExportAnswer<'EventList'>> {
  return withCluster(values, context, async (client): Promise<StaticExportAnswer<'EventList'>> => {
    const found = await listEvents(client, (await client.read(name)).metadata);
    return {
      outcome: 'done',
      kind: 'EventList',
      fields: { events: found },
      lines:
        found.length === 0
          ? ['There are no events. The Kubernetes API server keeps them for an hour by default.']
          : found.flatMap(linesOf),
    };
  });
}

function linesOf({ lastTime = '', type, reason, count, message }: ShownEvent): readonly Block[] {
  const often = count > 1 ? ` (${count} times)` : '';
  const kind = marked(type.padEnd(7), type === 'Warning' ? 'unsure' : undefined);
  return [markedLine(kind, `  ${reason}${often}  ${lastTime}`), prose(message, '  ')];
}
