// Reports what a reconcile did and changed, as log lines and events, and warns once of an unusual key. Refuses: choosing
// or wording lines and events (log-lines.ts, events.ts).

import type { Observation } from '../reconcile/observation.ts';
import type { Status } from '../staticexport/status-schema.ts';
import type { StaticExportObject } from '../wire/cluster.ts';
import type { ReportContext } from './context.ts';
import { eventsOf } from './events.ts';
import { type LoggedReconcile, logLinesOf } from './log-lines.ts';
import { resourceId } from './memory.ts';
import { noticesOf } from './notices.ts';

/**
 * Writes the log lines and events of a reconcile, and sends its notifications.
 *
 * @param reconcile `before`: the status as read at its start
 * @returns the reasons of the events */
export function reportChanges(
  object: StaticExportObject,
  reconcile: LoggedReconcile & { readonly before: Status },
  { logger, events, notices }: ReportContext,
): readonly string[] {
  for (const { level, fields, message } of logLinesOf(reconcile)) {
    logger[level]({ object: resourceId(object.metadata), ...fields }, message);
  }
  const notes = eventsOf(reconcile.changes, reconcile.after);
  for (const note of notes) events.record(object, note);
  notices.send(object, noticesOf(reconcile.changes, reconcile.before, reconcile.after));
  return notes.map(({ reason }) => reason);
}

/** Most keys begin with `svc_`; a key that does not may still be valid. Logged once per Secret version. */
export function warnOfPrefix(
  { key, wanted }: Observation,
  rateLimit: string,
  { metadata }: StaticExportObject,
  { memory, logger }: ReportContext,
): void {
  if (key.kind !== 'present' || key.hasUsualPrefix) return;
  if (memory.warnedKeys.get(rateLimit) === key.secretVersion) return;
  memory.warnedKeys.set(rateLimit, key.secretVersion);
  const secret = `${metadata.namespace}/${wanted.keySecret.name}`;
  logger.warn(
    { object: resourceId(metadata), secret },
    `API key in Secret ${secret} does not begin with svc_. Check that it is an admin key.`,
  );
}
