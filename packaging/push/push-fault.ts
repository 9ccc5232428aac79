// What the registry's refusal of a push means for its user: the flag or the login that is missing. Pure. Refuses to change
// other failures. Messages name paths of files and none of their content.

import { PublishableError, publishableCode } from '#platform/wire/publishable-error.ts';
import { PushRefusal } from './artifact.ts';
import type { LoginFile } from './login-files.ts';

export interface PushReach {
  readonly host: string;
  readonly isPlainHttp: boolean;
  /** The files without credentials for the host; `undefined` where credentials are sent. */
  readonly filesWithout: readonly LoginFile[] | undefined;
}

/** Of TLS, where the other side answers in clear text. */
const clearTextCodes: ReadonlySet<string> = new Set([
  'ERR_SSL_WRONG_VERSION_NUMBER',
  'ERR_SSL_PACKET_LENGTH_TOO_LONG',
]);

/** @returns the same failure, with what to do in addition */
export function explainPushFault(error: unknown, { host, isPlainHttp, filesWithout }: PushReach): unknown {
  if (!(error instanceof PublishableError)) return error;
  if (!isPlainHttp && clearTextCodes.has(publishableCode(error.cause)))
    return error.saying(`${error.message} A registry without TLS needs --plain-http.`);
  if (error.code !== 'Denied' || filesWithout === undefined) return error;
  const found = filesWithout.map(
    ({ path, text }) => `${path}${text === undefined ? ' (does not exist)' : ''}`,
  );
  return new PushRefusal(
    [`${error.message} No login for ${host} is in:`, ...found.map((one) => `  ${one}`), noLogin].join('\n'),
    { cause: error },
  );
}

const noLogin = 'Log in, or set REGISTRY_USERNAME and REGISTRY_PASSWORD.';
