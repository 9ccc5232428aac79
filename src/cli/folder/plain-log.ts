// The reconcile's log as lines for a person. The operator writes JSON for a log store, with host and code in fields; a
// command has a reader who wants sentences that name them. Refuses: lines whose outcome is an event, because events are
// shown too. Invariant: only publishable text is shown.

import { sentence } from '#operator/reconcile/status/failure-words.ts';
import type { Logger } from '#platform/runtime/logger.ts';
import { publishableCode, publishableMessage } from '#platform/wire/publishable-error.ts';

/** @param note shows a line */
export function createPlainLog(note: (line: string) => void): Logger {
  const show = (fields: object, message: string): void => {
    if (isEvent(fields)) return;
    const call = calls.get(message);
    note(call === undefined ? [message, ...errorOf(fields)].join(': ') : failedCall(call, fields));
  };
  const log: Logger = { debug: () => {}, info: () => {}, warn: show, error: show, child: () => log };
  return log;
}

/** A condition that changed, or the verdict of a job. */
function isEvent(fields: object): boolean {
  return 'to' in fields || ('jobId' in fields && !('retryTime' in fields));
}

/** What the log says of a call that failed, and what was called. */
const calls: ReadonlyMap<string, string> = new Map([
  ['start failed', 'Starting the export'],
  ['poll failed', 'Polling the export job'],
  ['issuing the link failed', 'Issuing a link'],
  ['checking the issued link failed', 'Checking the issued link'],
  ['inspection failed', 'Inspecting the archive'],
]);

function failedCall(call: string, fields: object): string {
  const [reason = '', message, retryTime] = ['reason', 'message', 'retryTime'].map((name) =>
    textOf(fields, name),
  );
  const said =
    message === undefined ? `${call} failed` : `${call} failed. ${sentence(message).replace(/\.$/, '')}`;
  return `${said} (${reason})${retryTime === undefined ? '' : `. Retrying at ${retryTime}`}`;
}

function errorOf(fields: object): readonly string[] {
  return 'error' in fields ? [`${publishableMessage(fields.error)} (${publishableCode(fields.error)})`] : [];
}

function textOf(fields: object, name: string): string | undefined {
  const value: unknown = Reflect.get(fields, name);
  return typeof value === 'string' && value !== '' ? value : undefined;
}
