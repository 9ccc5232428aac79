// Sends notifications outside the reconcile: reads the Secret of each webhook, calls it, and repeats what may pass. Webhooks
// take no turn of each other; the notifications of one are sent in order. Refuses to wait, to throw, and to grow without bound.
// Invariant: a notification that is not delivered is counted, logged, and an event of its resource.

import type { Notices } from '#operator/loop/ports.ts';
import type { NotifyWebhook } from '#operator/staticexport/notify-schema.ts';
import { parseStaticExport } from '#operator/staticexport/parse.ts';
import type { Clock } from '#platform/runtime/clock.ts';
import type { Logger } from '#platform/runtime/logger.ts';
import type { Random } from '#platform/runtime/random.ts';
import {
  type Cluster,
  type EventNote,
  noticeKinds,
  type StaticExportObject,
} from '#platform/wire/cluster.ts';
import { publishableMessage } from '#platform/wire/publishable-error.ts';
import { type Notification, notificationBody } from './notification.ts';
import { callWebhook, type NotifyAnswer, type NotifyCallOptions, readNotifyAddress } from './webhook-call.ts';

export const notificationOutcomes = ['delivered', 'failed', 'dropped'] as const;
export type NotificationOutcome = (typeof notificationOutcomes)[number];

export interface NotifierOptions extends Omit<NotifyCallOptions, 'clock' | 'timeoutMs'> {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly readSecret: Cluster['readSecret'];
  /** Entries of `--allowed-notify-hosts`. */
  readonly allowedHosts: readonly string[];
  /** Ends what is being sent, and drops what waits. */
  readonly signal: AbortSignal;
  /** Writes an event about a notification that was not delivered. */
  readonly record: (object: StaticExportObject, note: EventNote) => void;
  readonly observe: (outcome: NotificationOutcome) => void;
}

const timeoutMs = 10_000;
const pausesMs = [1_000, 5_000, 25_000];
/** A receiver that asks for more gets no further attempt. */
const longestPauseMs = 60_000;
/** Of one webhook, of one namespace, and of all. A webhook that hangs leaves room for the others of its namespace. */
const mostOfLine = 8;
const mostOfNamespace = 24;
const mostOfAll = 200;

interface Delivery {
  readonly object: StaticExportObject;
  readonly webhook: NotifyWebhook;
  readonly notification: Notification;
}

export function createNotifier(options: NotifierOptions): Notices {
  const { clock, random, logger, allowedHosts, signal, record, observe } = options;
  const lines = new Map<string, Promise<void>>();
  const pending = new Map<string, number>();
  let pendingOfAll = 0;

  const fail = (
    { object, webhook, notification }: Delivery,
    outcome: 'failed' | 'dropped',
    problem: string,
  ): void => {
    observe(outcome);
    const { namespace, name } = object.metadata;
    const subject = { object: `${namespace}/${name}`, webhook: webhook.name, reason: notification.reason };
    const message = `Webhook ${webhook.name} did not get the notification ${notification.reason}: ${problem}.`;
    logger.warn({ ...subject, message }, 'a notification was not delivered');
    record(object, { type: 'Warning', reason: 'NotificationFailed', message });
  };

  const deliver = async (delivery: Delivery): Promise<void> => {
    const { object, webhook, notification } = delivery;
    const key = { namespace: object.metadata.namespace, name: webhook.secretRef.name };
    const message = {
      id: `msg_${random.uuid().replaceAll('-', '')}`,
      body: notificationBody(webhook.format ?? 'Generic', notification),
    };
    const attempt = async (): Promise<NotifyAnswer> => {
      const read = await options.readSecret(key, signal).catch((error: unknown) => publishableMessage(error));
      if (typeof read === 'string') {
        const problem = `Secret ${key.name} could not be read: ${read}`;
        return { kind: 'unavailable', problem, retryAfterMs: undefined };
      }
      const address = readNotifyAddress(webhook, read?.data, allowedHosts);
      if (typeof address === 'string') return { kind: 'refused', problem: address };
      return await callWebhook(address, message, { ...options, timeoutMs }, signal);
    };
    for (let failed = 0; ; failed += 1) {
      const answer = await attempt();
      signal.throwIfAborted();
      if (answer.kind === 'taken') return observe('delivered');
      const pauseMs = answer.kind === 'refused' ? undefined : pausesMs[failed];
      const waitMs = Math.max(pauseMs ?? 0, answer.kind === 'refused' ? 0 : (answer.retryAfterMs ?? 0));
      if (pauseMs === undefined || waitMs > longestPauseMs) return fail(delivery, 'failed', answer.problem);
      await clock.after(waitMs, signal);
    }
  };

  const enqueue = (delivery: Delivery): void => {
    const { namespace } = delivery.object.metadata;
    const line = `${namespace}/${delivery.webhook.secretRef.name}`;
    const ofLine = pending.get(line) ?? 0;
    const waiting = pending.get(namespace) ?? 0;
    if (ofLine >= mostOfLine || waiting >= mostOfNamespace || pendingOfAll >= mostOfAll) {
      fail(delivery, 'dropped', 'too many notifications wait already');
      return;
    }
    pending.set(line, ofLine + 1);
    pending.set(namespace, waiting + 1);
    pendingOfAll += 1;
    const sent = (lines.get(line) ?? Promise.resolve())
      .then(() => deliver(delivery))
      // Only the end of the leadership aborts.
      .catch(() => observe('dropped'))
      .finally(() => {
        pendingOfAll -= 1;
        for (const key of [line, namespace]) {
          const left = (pending.get(key) ?? 1) - 1;
          if (left === 0) pending.delete(key);
          else pending.set(key, left);
        }
        if (lines.get(line) === sent) lines.delete(line);
      });
    lines.set(line, sent);
  };

  return {
    send: (object, notices) => {
      const { spec, status } = parseStaticExport(object);
      for (const notice of notices) {
        for (const webhook of spec?.notify ?? []) {
          const kind = notice.kinds.find((one) => (webhook.events ?? noticeKinds).includes(one));
          if (kind === undefined) continue;
          const notification = {
            ...{
              kind,
              object: object.metadata,
              domain: spec?.domain,
              projectId: spec?.api.projectId,
              at: clock.now(),
            },
            ...{ reason: notice.reason, message: notice.message, version: status.active?.version },
          };
          enqueue({ object, webhook, notification });
        }
      }
    },
  };
}
