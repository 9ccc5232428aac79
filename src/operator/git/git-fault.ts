// The failure of a whole task: a stable code, a message without credentials, and whether the same task may succeed later.
// Also maps what the git client and the network throw. Refuses text of another library: only what a host says of
// a refusal is quoted, made printable, bounded and without addresses.

import { isOfCertificate, readConnectionFault } from '#platform/http/connection-fault.ts';
import { excerptOf } from '#platform/wire/foreign-words.ts';
import { printable } from '#platform/wire/printable-text.ts';
import { PublishableError, publishableCode } from '#platform/wire/publishable-error.ts';
import type { GitFailureCode } from './push-task.ts';

export type GitFault = PublishableError<GitFailureCode>;

/** What an error means that nothing else explains. */
export const unexpected = (cause: unknown): GitFault =>
  new PublishableError(
    'Unexpected',
    `The push failed unexpectedly (${codeOf(cause)}). Check that the repository is valid with \`git fsck\`.`,
    { kind: 'retry', cause },
  );

/** The git client's errors name themselves by class names; their texts may hold anything. */
function codeOf(error: unknown): string {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^[A-Z][A-Za-z]{2,40}$/.test(code) ? code : publishableCode(error);
}

export const timedOut = (deadlineMs: number, cause?: unknown): GitFault =>
  new PublishableError(
    'Timeout',
    `The git host did not finish in time (${deadlineMs / 1000} s). Check that it answers.`,
    {
      kind: 'retry',
      cause,
    },
  );

/** What a network error of a request means. */
export function gitNetworkFault(host: string, error: unknown): GitFault {
  if (error instanceof PublishableError) return error;
  const fault = readConnectionFault(error);
  if (fault.kind === 'internal-address') return gitAddressNotAllowed(host, error);
  const remedy = fault.kind === 'unknown-ca' ? 'Add its CA certificate to the credentials' : fault.remedy;
  const said = `Git host ${host} ${fault.what}. ${remedy}.`;
  return isOfCertificate(fault)
    ? new PublishableError('CertificateNotTrusted', said, { cause: error })
    : new PublishableError('Unreachable', said, { kind: 'retry', cause: error });
}

export const gitAddressNotAllowed = (host: string, cause?: unknown): GitFault =>
  new PublishableError(
    'AddressNotAllowed',
    `Git host ${host} leads to a loopback, link-local, private or cluster address, which is not allowed here. Use a public host, or allow private addresses. Link-local addresses are never allowed.`,
    { cause },
  );

/** What an HTTP status other than 200 means. @param lines of plain text that the host answered */
export function statusFault(
  host: string,
  status: number,
  isPush: boolean,
  lines: readonly string[],
): GitFault {
  const said = quoteRemote(lines);
  const returned = `Git host ${host} returned ${status}${said}`;
  if ([203, 401, 403, 404].includes(status)) {
    const right = isPush ? 'write to' : 'read';
    return new PublishableError(
      'Unauthorized',
      `${returned}. Check the URL, and that the token or password is valid and may ${right} the repository.`,
    );
  }
  if (status === 413) {
    return new PublishableError(
      'RepositoryTooLarge',
      `${returned}. Raise the size limit of the git host, or of the proxy in front of it.`,
    );
  }
  if ([408, 409, 425, 429].includes(status) || status >= 500) {
    return new PublishableError('Unreachable', `${returned}.`, { kind: 'retry' });
  }
  // A host that says why is one.
  return said === ''
    ? notAGitServer(host, `returned ${status}`)
    : new PublishableError(
        'Refused',
        `${returned}. Correct what the host names, or the URL of the repository.`,
      );
}

export const notAGitServer = (host: string, what: string): GitFault =>
  new PublishableError(
    'NotAGitServer',
    `Git host ${host} ${what}, which is not git's protocol over HTTP. Check the URL of the repository.`,
  );

/** Three digits are enough for a person. */
export const mebibytes = (bytes: number): string => `${Number((bytes / 1024 / 1024).toPrecision(3))} MiB`;

export const tooLarge = (what: string, cause?: unknown): GitFault =>
  new PublishableError(
    'RepositoryTooLarge',
    `The repository ${what}. Use a smaller repository, such as one of configuration alone.`,
    { cause },
  );

export const isTooLarge = (error: unknown): error is GitFault =>
  error instanceof PublishableError && error.code === 'RepositoryTooLarge';

/** Lines of the host at most. */
const quotedLines = 3;

/**
 * For messages: `: "the reason of the host"`, or nothing. Safe to publish: without addresses, user names in them, or long
 * words, which may be credentials.
 */
export function quoteRemote(lines: readonly string[]): string {
  const text = lines
    .map((line) => line.replace(/^(remote|error|fatal):\s*/i, '').trim())
    .filter((line) => /[\p{L}\p{N}]/u.test(line))
    .slice(0, quotedLines)
    .map((line) => line.replace(/[a-z][a-z0-9+.-]*:\/\/\S+/gi, '[link]').replace(/\S{40,}/g, '[…]'))
    .join(' ');
  const excerpt = excerptOf(text);
  return excerpt === undefined ? '' : `: "${excerpt}"`;
}

export const declined = (branch: string, lines: readonly string[]): GitFault =>
  new PublishableError(
    'ProtectedBranch',
    `The git host declined the push to ${printable(branch, 100)}${quoteRemote(lines)}. Let the user push there, or set a pull-request branch.`,
  );
