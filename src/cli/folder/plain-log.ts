// The reconcile's log as lines for a person. The operator writes JSON for a log store, with host and code in fields; a
// command has a reader who wants sentences that name them. Refuses: lines whose outcome is an event, because events are
// shown too. Invariant: only publishable text is shown.

import { sentence } from '#operator/reconcile/status/failure-words.ts';
import type { Logger } from '#platform/runtime/logger.ts';
import { publishableCode, publishableMessage } from '#platform/wire/publishable-error.ts';

/** @param note shows a line. @param noteRetry shows a failed call, and when it is sent again */
export function createPlainLog(note: (line: string) => void, noteRetry = note): Logger {
  const show = (fields: object, message: string): void => {
    if (isEvent(fields)) return;
    if ('retryTime' in fields) noteRetry(failedCall(message, fields));
    else note([message, ...errorOf(fields)].join(': '));
  };
  const log: Logger = { debug: () => {}, info: () => {}, warn: show, error: show, child: () => log };
  return log;
}

/** A condition that changed, or the verdict of a job. */
function isEvent(fields: object): boolean {
  return 'to' in fields || ('jobId' in fields && !('retryTime' in fields));
}

/** @param what failed, and that it failed */
function failedCall(what: string, fields: object): string {
  const [reason = '', message, retryTime] = ['reason', 'message', 'retryTime'].map((name) =>
    textOf(fields, name),
  );
  const said = [what, ...(message === undefined ? [] : [message])]
    .map((text) => sentence(text).replace(/\.$/, ''))
    .join('. ');
  return `${said} (${reason})${retryTime === undefined ? '' : `. Retrying at ${retryTime}`}`;
}

function errorOf(fields: object): readonly string[] {
  return 'error' in fields ? [`${publishableMessage(fields.error)} (${publishableCode(fields.error)})`] : [];
}

function textOf(fields: object, name: string): string | undefined {
  const value: unknown = Reflect.get(fields, name);
  return typeof value === 'string' && value !== '' ? value : undefined;
}
