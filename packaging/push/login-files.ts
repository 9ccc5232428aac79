// The files in which the tools of this field leave a login: where each of them is, and their texts. Owns the order. Refuses a
// file that REGISTRY_AUTH_FILE names and that does not exist. A file that cannot be read is kept with the reason.

import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { publishableCode } from '#platform/wire/publishable-error.ts';
import { PushRefusal } from './artifact.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface LoginFile {
  readonly path: string;
  /** `undefined` where it does not exist. */
  readonly text: string | undefined;
  /** Of the system, where it exists and cannot be read. */
  readonly fault?: string;
}

/**
 * Docker's file, both files of buildah and podman, and that of helm. REGISTRY_AUTH_FILE replaces all of them, as in buildah.
 *
 * @param uid of this process, where the system has one
 */
export function loginPaths(env: Environment, uid: number | undefined): readonly string[] {
  const named = env['REGISTRY_AUTH_FILE'];
  if (named) return [named];
  const home = env['HOME'] || homedir();
  const config = env['XDG_CONFIG_HOME'] || join(home, '.config');
  // Without a session, as in CI, buildah writes into a folder of the user.
  const runtime = env['XDG_RUNTIME_DIR'] || (uid !== undefined && join('/run/containers', `${uid}`));
  const helm = env['HELM_CONFIG_HOME'] || join(config, 'helm');
  return [
    join(env['DOCKER_CONFIG'] || join(home, '.docker'), 'config.json'),
    ...(runtime ? [join(runtime, env['XDG_RUNTIME_DIR'] ? 'containers/auth.json' : 'auth.json')] : []),
    join(config, 'containers/auth.json'),
    env['HELM_REGISTRY_CONFIG'] || join(helm, 'registry/config.json'),
  ];
}

/** @throws PushRefusal where REGISTRY_AUTH_FILE names a file that does not exist */
export async function readLoginFiles(
  env: Environment,
  uid: number | undefined,
): Promise<readonly LoginFile[]> {
  return Promise.all(
    loginPaths(env, uid).map(async (path) => {
      try {
        return { path, text: await readFile(path, 'utf8') };
      } catch (cause) {
        const fault = publishableCode(cause);
        if (fault !== 'ENOENT' && fault !== 'ENOTDIR') return { path, text: undefined, fault };
        if (!env['REGISTRY_AUTH_FILE']) return { path, text: undefined };
        throw new PushRefusal(
          `REGISTRY_AUTH_FILE names ${path}, which does not exist. Log in with that file, or unset the variable.`,
          { cause },
        );
      }
    }),
  );
}
