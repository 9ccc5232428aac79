// Debian's docker-registry (distribution 2.8) in a process of its own, with its storage in a temporary folder. Owns its
// configuration: a free loopback port, logins, deletes. Never the service that the package would start.

import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startProgram } from './child-program.ts';
import { eventually } from './eventually.ts';
import { findFreePort } from './free-port.ts';
import { maySkip } from './may-skip.ts';

const hasPrograms = ['docker-registry', 'htpasswd'].every(
  (program) => spawnSync(program, ['--help']).error === undefined,
);
/** Why the tests with a registry are skipped here; `false` when they are not. */
export const noRegistry = maySkip(
  'registry',
  !hasPrograms && 'docker-registry or htpasswd (apache2-utils) is not installed',
);

export interface DockerRegistryOptions {
  /** Passwords by user name; without them everything is allowed to every client. */
  readonly users?: Readonly<Record<string, string>>;
  /** A token endpoint in place of users. */
  readonly tokens?: {
    readonly realm: string;
    readonly service: string;
    readonly issuer: string;
    readonly certificatePem: string;
  };
  /** Default: true. */
  readonly allowsDeletes?: boolean;
  /** Refuses all writes, as during maintenance. */
  readonly isReadOnly?: boolean;
  readonly tls?: { readonly certificatePem: string; readonly keyPem: string };
  /** Storage of another registry that has stopped. */
  readonly folder?: string;
}

export interface DockerRegistry {
  /** Host and port. */
  readonly host: string;
  /** What it was started with, and its storage. */
  readonly folder: string;
  /** The file of a blob's bytes. */
  blobFile(digest: string): string;
  /** Files of uploads that have not ended. */
  openUploads(repository: string): Promise<readonly string[]>;
  /** Writes tags of a manifest into the storage, many at once. */
  linkTags(repository: string, tags: readonly string[], digest: string): Promise<void>;
  stop(): Promise<void>;
  /** Stops, and removes the storage. */
  close(): Promise<void>;
}

export async function startDockerRegistry(options: DockerRegistryOptions = {}): Promise<DockerRegistry> {
  const folder = options.folder ?? (await mkdtemp(join(tmpdir(), 'docker-registry-')));
  const host = `127.0.0.1:${await findFreePort()}`;
  const configFile = await writeRegistryConfig(folder, host, options);
  const program = startProgram('docker-registry', { args: ['serve', configFile] });
  const scheme = options.tls === undefined ? 'http' : 'https';
  try {
    await eventually('docker-registry listens', async () => {
      if (program.hasExited()) return true;
      // A refused certificate is an answer, too.
      return await fetch(`${scheme}://${host}/v2/`).then(
        () => true,
        ({ cause }: Error) => (String(cause).includes('ECONNREFUSED') ? undefined : true),
      );
    });
    if (program.hasExited()) throw new Error(`docker-registry ended:\n${program.tail()}`);
  } catch (error) {
    await program.stop();
    throw error;
  }
  const root = join(folder, 'storage', 'docker', 'registry', 'v2');
  return {
    host,
    folder,
    blobFile: (digest) => {
      const hex = digest.replace('sha256:', '');
      return join(root, 'blobs', 'sha256', hex.slice(0, 2), hex, 'data');
    },
    openUploads: (repository) => readdir(join(root, 'repositories', repository, '_uploads')),
    linkTags: async (repository, tags, digest) => {
      for (const tag of tags) {
        const current = join(root, 'repositories', repository, '_manifests', 'tags', tag, 'current');
        await mkdir(current, { recursive: true });
        await writeFile(join(current, 'link'), digest);
      }
    },
    stop: () => program.stop(),
    close: async () => {
      await program.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/**
 * For a registry that a test starts by itself, such as inside the network of nodes.
 * @param addr host and port to listen on. @returns the file for `docker-registry serve`
 */
export async function writeRegistryConfig(
  folder: string,
  addr: string,
  options: DockerRegistryOptions,
): Promise<string> {
  const configFile = join(folder, 'config.yml');
  // YAML is a superset of JSON.
  await writeFile(configFile, JSON.stringify(await configOf(folder, addr, options)));
  return configFile;
}

async function configOf(folder: string, addr: string, options: DockerRegistryOptions): Promise<unknown> {
  const { users, tokens, tls, allowsDeletes = true, isReadOnly = false } = options;
  const write = async (name: string, text: string): Promise<string> => {
    await writeFile(join(folder, name), text);
    return join(folder, name);
  };
  const auth = {
    ...(users && { htpasswd: { realm: 'test', path: await write('htpasswd', hashesOf(users)) } }),
    ...(tokens && {
      token: {
        realm: tokens.realm,
        service: tokens.service,
        issuer: tokens.issuer,
        rootcertbundle: await write('tokens.pem', tokens.certificatePem),
      },
    }),
  };
  const certified = tls && {
    certificate: await write('tls.pem', tls.certificatePem),
    key: await write('tls.key', tls.keyPem),
  };
  return {
    version: 0.1,
    log: { level: 'warn', accesslog: { disabled: true } },
    storage: {
      filesystem: { rootdirectory: join(folder, 'storage') },
      delete: { enabled: allowsDeletes },
      maintenance: { uploadpurging: { enabled: false }, readonly: { enabled: isReadOnly } },
    },
    http: { addr, secret: 'of-this-test', ...(certified && { tls: certified }) },
    ...(Object.keys(auth).length > 0 && { auth }),
  };
}

/** The registry accepts bcrypt only. */
function hashesOf(users: Readonly<Record<string, string>>): string {
  return Object.entries(users)
    .map(([user, password]) => {
      const { status, stdout } = spawnSync('htpasswd', ['-niB', user], { input: password, encoding: 'utf8' });
      if (status !== 0) throw new Error(`htpasswd ended with ${status}`);
      return stdout.trim();
    })
    .join('\n');
}

/** Changes one bit of a file, as a failing disk does. */
export async function damageFile(file: string): Promise<void> {
  const bytes = await readFile(file);
  const middle = Math.floor(bytes.length / 2);
  bytes[middle] = (bytes[middle] ?? 0) ^ 1;
  await writeFile(file, bytes);
}
