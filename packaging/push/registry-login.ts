// The credentials of a push, where the tools of this field leave them: two variables, or the file that a login wrote. Owns the
// order in which places are asked. Refuses one variable without the other. Its messages repeat no value.

import { homedir } from 'node:os';
import { join } from 'node:path';
import { findCredentials, type RegistryCredentials } from '#mirror/registry/docker-config.ts';
import type { RegistryRepository } from '#mirror/registry/repository.ts';
import { PushRefusal } from './artifact.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The file that a login wrote, as Docker, buildah and helm name it. */
export const loginFileOf = (env: Environment): string =>
  env['REGISTRY_AUTH_FILE'] ||
  join(env['DOCKER_CONFIG'] || join(env['HOME'] || homedir(), '.docker'), 'config.json');

/**
 * @param config text of {@link loginFileOf}, or `undefined` where it does not exist
 * @returns `undefined` for a registry that asks for none
 * @throws {MirrorError} `InvalidCredentials`
 */
export function registryLogin(
  env: Environment,
  config: string | undefined,
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
  return config === undefined ? undefined : findCredentials(config, repository);
}
