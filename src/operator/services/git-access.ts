// The credentials of a git repository, as its Secret holds them: which keys are read, and what is wrong with the others.
// Pure. Invariant: no message repeats a value.

import type { GitAccess } from '#operator/git/push-task.ts';

/** What is wrong with the Secret, as a code and a sentence with the remedy. */
export interface AccessProblem {
  readonly code: 'CredentialsMissing' | 'CredentialsUnreadable';
  readonly message: string;
}

/** Keys of the Secret. */
const keys = ['username', 'password', 'token', 'ca.crt', 'signingKey'] as const;
const strictUtf8 = new TextDecoder('utf-8', { fatal: true });

/** @param data decoded bytes by key; `undefined` where the Secret does not exist or must not be read */
export function readGitAccess(
  secretName: string,
  data: Readonly<Record<string, Uint8Array>> | undefined,
): GitAccess | AccessProblem {
  if (data === undefined) {
    const message = `the Secret ${secretName} does not exist, or the operator must not read it; create it with token, or with username and password`;
    return { code: 'CredentialsMissing', message };
  }
  const texts = new Map<string, string>();
  for (const key of keys) {
    const value = Object.hasOwn(data, key) ? data[key] : undefined;
    const text = value === undefined ? '' : decode(value);
    if (text === undefined) {
      const message = `the value of ${key} in the Secret ${secretName} is not UTF-8 text; write it as text`;
      return { code: 'CredentialsUnreadable', message };
    }
    // Files end with a line feed, and no token or password does.
    const line = key === 'ca.crt' || key === 'signingKey' ? text : text.replace(/\r?\n$/, '');
    if (line !== '') texts.set(key, line);
  }
  const [username, password, token] = [texts.get('username'), texts.get('password'), texts.get('token')];
  const [caPem, signingKeyPem] = [texts.get('ca.crt'), texts.get('signingKey')];
  if (token === undefined && password === undefined) {
    const message = `the Secret ${secretName} has no token and no password; write token, or username and password`;
    return { code: 'CredentialsMissing', message };
  }
  return {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(token !== undefined && { token }),
    ...(caPem !== undefined && { caPem }),
    ...(signingKeyPem !== undefined && { signingKeyPem }),
  };
}

function decode(value: Uint8Array): string | undefined {
  try {
    return strictUtf8.decode(value);
  } catch {
    return undefined;
  }
}
