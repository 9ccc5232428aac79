// Reports what a reconcile did and changed, as log lines and events, and warns once of a refused unusual key. Refuses: choosing
// or wording lines and events (log-lines.ts, events.ts).

import type { Observation, OutputState } from '#operator/reconcile/observation.ts';
import type { StatusChange } from '#operator/reconcile/status/status-changes.ts';
import type { Status } from '#operator/staticexport/status-schema.ts';
import type { StaticExportObject } from '#platform/wire/cluster.ts';
import type { ReportContext } from './context.ts';
import { eventsOf } from './events.ts';
import { type LoggedReconcile, logLinesOf } from './log-lines.ts';
import { resourceId } from './memory.ts';
import { noticesOf } from './notices.ts';

/**
 * Writes the log lines and events of a reconcile, and sends its notifications.
 *
 * @param reconcile `before`: the status as read at its start; `lasting`: its changes in messages that outlast the next retry
 * @returns the reasons of the events */
export function reportChanges(
  object: StaticExportObject,
  reconcile: LoggedReconcile & { readonly before: Status; readonly lasting: readonly StatusChange[] },
  { logger, events, notices }: ReportContext,
): readonly string[] {
  for (const { level, fields, message } of logLinesOf(reconcile)) {
    logger[level]({ object: resourceId(object.metadata), ...fields }, message);
  }
  const { lasting, before, after } = reconcile;
  const notes = eventsOf(lasting, after);
  for (const note of notes) events.record(object, note);
  notices.send(object, noticesOf(lasting, before, after));
  return notes.map(({ reason }) => reason);
}

/**
 * The output Secret was deleted although a version is published. Reported once: the status that follows has no link until the
 * Secret is written again. A publication without a link needs no call for that, and is reported when it is written.
 *
 * @param before the status as stored
 * @param after the output as this reconcile left it
 */
export function warnOfLostOutput(
  { output, wanted }: Observation,
  after: OutputState,
  { active }: Status,
  object: StaticExportObject,
  { logger, events }: ReportContext,
): void {
  if (output.kind !== 'absent' || active === undefined) return;
  const isWritten = !wanted.publishesLink && after.kind === 'ours';
  if (active.linkExpirationTime === undefined && !isWritten) return;
  const { namespace } = object.metadata;
  const next = isWritten
    ? `It was written again for version ${active.version}.`
    : `It is written again for version ${active.version} with the next link.`;
  const message = `Secret ${namespace}/${wanted.outputName} was deleted. ${next}`;
  logger.warn({ object: resourceId(object.metadata), version: active.version }, message);
  events.record(object, { type: 'Warning', reason: 'OutputMissing', message });
}

/** Most keys begin with `svc_`; one that does not may be valid, so only a refused one is logged, once per Secret version. */
export function warnOfPrefix(
  { key, wanted, status }: Observation,
  rateLimit: string,
  { metadata }: StaticExportObject,
  { memory, logger }: ReportContext,
): void {
  if (key.kind !== 'present' || key.hasUsualPrefix) return;
  if (status.refusedKey?.secretVersion !== key.secretVersion) return;
  if (memory.warnedKeys.get(rateLimit) === key.secretVersion) return;
  memory.warnedKeys.set(rateLimit, key.secretVersion);
  const secret = `${metadata.namespace}/${wanted.keySecret.name}`;
  logger.warn(
    { object: resourceId(metadata), secret },
    'API key does not begin with svc_. Check that it is an admin key.',
  );
}
