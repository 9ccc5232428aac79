// The credentials of a registry, and the keys of the Secret that holds them: a docker config, or a user name and a
// password. Pure. Refuses a Secret without credentials for the registry, because pulls without any would fail later
// with a less clear message. Invariant: no message repeats a value.

import { PublishableError } from '#platform/wire/publishable-error.ts';
import type { MirrorError } from '../mirror-error.ts';
import { findCredentials, type RegistryCredentials } from './docker-config.ts';
import type { RegistryRepository } from './repository.ts';

/** Of `kubernetes.io/dockerconfigjson`, and of a file that was stored under its own name. */
const configKeys = ['.dockerconfigjson', 'config.json'] as const;
const strictUtf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * @param secretName for messages
 * @param data decoded bytes by key
 * @throws {MirrorError} `InvalidCredentials`
 */
export function readRegistryCredentials(
  secretName: string,
  data: Readonly<Record<string, Uint8Array>>,
  repository: RegistryRepository,
): RegistryCredentials {
  const refuse = (what: string, cause?: unknown): MirrorError =>
    new PublishableError('InvalidCredentials', `The Secret ${secretName} ${what}`, { cause });
  const read = (key: string): string | undefined => {
    const value = Object.hasOwn(data, key) ? data[key] : undefined;
    try {
      return value === undefined ? undefined : strictUtf8.decode(value);
    } catch (cause) {
      throw refuse(`has a value of ${key} that is not UTF-8 text. Write it as text.`, cause);
    }
  };
  for (const key of configKeys) {
    const config = read(key);
    if (config === undefined) continue;
    const found = findCredentials(config, repository);
    if (found !== undefined) return found;
    throw refuse(`has no credentials for registry ${repository.host}. Add the host to auths in ${key}.`);
  }
  // Files end with a line feed, and no user name or password does.
  const [username, password] = ['username', 'password'].map((key) => read(key)?.replace(/\r?\n$/, ''));
  if (!username || !password) {
    throw refuse('has neither .dockerconfigjson, nor username and password. Write one of them.');
  }
  if (username.includes(':')) throw refuse('has a user name with a colon. Correct username.');
  return { kind: 'password', username, password };
}
