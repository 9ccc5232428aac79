// Events (events.k8s.io/v1) as written to the API server: created once, then counted up as a series.
// Refuses: deciding what deserves an event, or how often.

import type { EventNote, ObjectKey, ObjectMeta } from '#platform/wire/cluster.ts';
import { wholeSecond } from '#platform/wire/instant.ts';
import { recordAt, textAt } from '#platform/wire/json-fields.ts';
import { isRecord } from '#platform/wire/json-text.ts';
import { printable } from '#platform/wire/printable-text.ts';
import { apiVersionOf, events, staticExports } from '../transport/resource-path.ts';
import type { Transport } from '../transport/transport.ts';
import { formatMicroTime } from './lease-store.ts';

export interface NewEvent extends EventNote {
  readonly regarding: ObjectMeta;
  /** Epoch ms. */
  readonly at: number;
  /** Makes the event's name unique among those of its object. */
  readonly suffix: string;
}

export interface EventStore {
  /** @returns the event's name. @throws {ClusterError} */
  create(event: NewEvent, signal: AbortSignal): Promise<string>;
  /** @throws {ClusterError} `NotFound` once the server has forgotten it (an hour by default) */
  count(
    event: ObjectKey & { readonly count: number; readonly at: number },
    signal: AbortSignal,
  ): Promise<void>;
}

/** The API's own limits (core/v1 validation). */
const maxNoteBytes = 1024;
const maxReasonChars = 128;
const maxInstanceChars = 128;

/** @param instance this replica, for `reportingInstance` */
export function createEventStore(transport: Transport, instance: string): EventStore {
  return {
    create: async (event, signal) => {
      const { namespace, name, uid, resourceVersion } = event.regarding;
      const stored = await transport.call(
        {
          verb: 'create',
          method: 'POST',
          address: { resource: events, namespace },
          body: {
            apiVersion: apiVersionOf(events),
            kind: events.kind,
            metadata: { name: eventName(name, event.suffix), namespace },
            eventTime: timeOf(event.at),
            reportingController: 'staticexport.dev/operator',
            reportingInstance: instance.slice(0, maxInstanceChars),
            action: 'Reconcile',
            reason: event.reason.slice(0, maxReasonChars),
            type: event.type,
            note: cutToBytes(printable(event.message), maxNoteBytes),
            regarding: {
              apiVersion: apiVersionOf(staticExports),
              kind: staticExports.kind,
              namespace,
              name,
              uid,
              resourceVersion,
            },
          },
        },
        signal,
      );
      return isRecord(stored) ? (textAt(recordAt(stored, 'metadata'), 'name') ?? '') : '';
    },
    count: async ({ namespace, name, count, at }, signal) => {
      await transport.call(
        {
          verb: 'patch',
          method: 'PATCH',
          address: { resource: events, namespace, name },
          contentType: 'application/merge-patch+json',
          body: { series: { count, lastObservedTime: timeOf(at) } },
        },
        signal,
      );
    },
  };
}

/** On the whole second, as the times of status and of messages, so that both can be compared. */
function timeOf(epochMs: number): string {
  return formatMicroTime(wholeSecond(epochMs));
}

/** Cut so that it stays a name: no part of one may end with a dash. */
function eventName(name: string, suffix: string): string {
  return `${name.slice(0, 200).replace(/[-.]+$/, '')}.${suffix}`;
}

/** At most this many bytes of UTF-8, and no partial character. */
function cutToBytes(text: string, maxBytes: number): string {
  // As a stream, so that a character that is cut in the middle is left out.
  return new TextDecoder().decode(Buffer.from(text).subarray(0, maxBytes), { stream: true });
}
