// The reconcile's log as lines for a person. The operator writes JSON for a log store; a command has a reader who wants
// one sentence. Refuses: lines whose outcome is an event, because events are shown too. Invariant: only publishable text
// is shown.

import type { Logger } from '../../runtime/logger.ts';
import { publishableCode, publishableMessage } from '../../wire/publishable-error.ts';

/** @param note shows a line */
export function createPlainLog(note: (line: string) => void): Logger {
  const show = (fields: object, message: string): void => {
    if (!isEvent(fields)) note([message, ...detailsOf(fields)].join(': '));
  };
  const log: Logger = { debug: () => {}, info: () => {}, warn: show, error: show, child: () => log };
  return log;
}

/** A condition that changed, or the verdict of a job. */
function isEvent(fields: object): boolean {
  return 'to' in fields || ('jobId' in fields && !('retryTime' in fields));
}

function detailsOf(fields: object): readonly string[] {
  if ('error' in fields) return [`${publishableMessage(fields.error)} (${publishableCode(fields.error)})`];
  const [message, reason, retryTime] = ['message', 'reason', 'retryTime'].map((name) => textOf(fields, name));
  const said = [message, message === undefined ? reason : reason && `(${reason})`].filter(isText).join(' ');
  const retry = retryTime === undefined ? '' : `. Retrying at ${retryTime}`;
  return said === '' ? [] : [`${said}${retry}`];
}

function textOf(fields: object, name: string): string | undefined {
  const value: unknown = Reflect.get(fields, name);
  return typeof value === 'string' ? value : undefined;
}

const isText = (text: string | undefined): text is string => text !== undefined && text !== '';
