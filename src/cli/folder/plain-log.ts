// The reconcile's log as lines for a person. The operator writes JSON for a log store, with host and code in fields; a
// command has a reader who wants sentences that name them. Refuses: lines whose outcome is an event, because events are
// shown too. Invariant: only publishable text is shown.

import { failureMessage, sentence } from '../../reconcile/status/failure-words.ts';
import type { Logger } from '../../runtime/logger.ts';
import { publishableCode, publishableMessage } from '../../wire/publishable-error.ts';

/** @param note shows a line. @param domain of the spec */
export function createPlainLog(note: (line: string) => void, domain: string): Logger {
  const show = (fields: object, message: string): void => {
    if (isEvent(fields)) return;
    const call = calls.get(message);
    note(call === undefined ? [message, ...errorOf(fields)].join(': ') : failedCall(call, fields, domain));
  };
  const log: Logger = { debug: () => {}, info: () => {}, warn: show, error: show, child: () => log };
  return log;
}

/** A condition that changed, or the verdict of a job. */
function isEvent(fields: object): boolean {
  return 'to' in fields || ('jobId' in fields && !('retryTime' in fields));
}

const inspection = 'Inspecting the archive';

/** What the log says of a call that failed, and what was called. */
const calls: ReadonlyMap<string, string> = new Map([
  ['start failed', 'Starting the export'],
  ['poll failed', 'Polling the export job'],
  ['issuing the link failed', 'Issuing a link'],
  ['checking the issued link failed', 'Checking the issued link'],
  ['inspection failed', inspection],
]);

function failedCall(call: string, fields: object, domain: string): string {
  const [reason = '', message, host, retryTime] = ['reason', 'message', 'host', 'retryTime'].map((name) =>
    textOf(fields, name),
  );
  const baseUrl = host === undefined ? undefined : `https://${host}`;
  // The message of an archive is a sentence. That of a call is a detail, such as ECONNREFUSED.
  const why =
    call === inspection
      ? message
      : failureMessage({ reason, ...(message && { message }) }, { wanted: { baseUrl, domain } });
  const said = why === undefined ? `${call} failed` : `${call} failed. ${sentence(why).replace(/\.$/, '')}`;
  return `${said} (${reason})${retryTime === undefined ? '' : `. Retrying at ${retryTime}`}`;
}

function errorOf(fields: object): readonly string[] {
  return 'error' in fields ? [`${publishableMessage(fields.error)} (${publishableCode(fields.error)})`] : [];
}

function textOf(fields: object, name: string): string | undefined {
  const value: unknown = Reflect.get(fields, name);
  return typeof value === 'string' && value !== '' ? value : undefined;
}
