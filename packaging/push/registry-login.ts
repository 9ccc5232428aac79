// The credentials of a push: two variables, or the first file of a login that names the registry. Pure. Refuses one variable
// without the other, and files that leave the credentials to a helper. Its messages name paths and repeat no value.

import { findCredentials, type RegistryCredentials } from '#mirror/registry/docker-config.ts';
import type { RegistryRepository } from '#mirror/registry/repository.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { PushRefusal } from './artifact.ts';
import type { Environment, LoginFile } from './login-files.ts';

const remedy = 'Set REGISTRY_USERNAME and REGISTRY_PASSWORD.';

/**
 * @param files in the order in which they are asked
 * @returns `undefined` for a registry that asks for none
 * @throws PushRefusal where no file has credentials, and one of them is damaged or leaves them to a helper
 */
export function registryLogin(
  env: Environment,
  files: readonly LoginFile[],
  repository: RegistryRepository,
): RegistryCredentials | undefined {
  const [username, password] = [env['REGISTRY_USERNAME'], env['REGISTRY_PASSWORD']];
  if (!username !== !password) {
    throw new PushRefusal('Set both REGISTRY_USERNAME and REGISTRY_PASSWORD, or neither of them.');
  }
  if (username && password) {
    if (username.includes(':')) throw new PushRefusal('REGISTRY_USERNAME has a colon. Correct the name.');
    return { kind: 'password', username, password };
  }
  const refusals: PushRefusal[] = [];
  for (const { path, text, fault } of files) {
    if (fault !== undefined) refusals.push(new PushRefusal(`${path} cannot be read (${fault}). ${remedy}`));
    if (text === undefined) continue;
    try {
      const found = findCredentials(text, repository, remedy);
      if (found !== undefined) return found;
    } catch (cause) {
      if (!(cause instanceof PublishableError)) throw cause;
      refusals.push(new PushRefusal(`${path}: ${cause.message}`, { cause }));
    }
  }
  // A login of another tool precedes the fault of a file that this push does not need.
  if (refusals[0] !== undefined) throw refusals[0];
  return undefined;
}
