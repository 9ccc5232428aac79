// The Secrets of a run: the API key, and the credentials of git targets. They come from the manifest, or from what
// `--secret` names: a file with one value, or a folder with a file for each key, as a mounted Secret. They stay in memory.
// Refuses: a `--secret` that the manifest does not use, which is a typing error, and a git target without credentials.

import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readGitAccess } from '#operator/services/git-access.ts';
import { defaultSecretKey } from '#operator/staticexport/names.ts';
import { readBounded } from '#platform/runtime/bounded-file.ts';
import { isThere } from '#platform/runtime/folder.ts';
import { publishableCode } from '#platform/wire/publishable-error.ts';
import { CliError } from '../cli-error.ts';
import type { FolderCluster } from './folder-cluster.ts';
import type { Manifest } from './manifest.ts';

/** `--secret NAME=PATH`. */
export interface SecretFile {
  readonly name: string;
  readonly path: string;
}

type SecretData = Readonly<Record<string, Uint8Array>>;

/** The first is what a file gives. */
const gitKeys = ['token', 'username', 'password', 'ca.crt', 'signingKey'];
/** Far more than a key and a bundle of CA certificates. */
const longestValue = 1024 * 1024;

/** @throws {CliError} `SecretUnknown`, `KeyUnreadable`, `SecretUnreadable`, `CredentialsMissing`, `CredentialsUnreadable` */
export async function holdSecrets(
  manifest: Manifest,
  files: readonly SecretFile[],
  cluster: Pick<FolderCluster, 'holdSecret'>,
): Promise<void> {
  const { key, keySecret, gitTargets } = manifest;
  const held = new Map(manifest.secrets);
  for (const file of files) {
    const keys = keysOf(file.name, manifest);
    if (keys.length === 0) {
      const used = [...new Set([keySecret.name, ...gitTargets.map(({ secretName }) => secretName)])];
      const message = `--secret ${file.name} is not used: the manifest names Secret ${used.join(', ')}`;
      throw new CliError('usage', 'SecretUnknown', message);
    }
    held.set(file.name, await readSecretData(file, keys, file.name === keySecret.name));
  }
  for (const { name, secretName } of gitTargets) requireAccess(name, secretName, held.get(secretName));
  for (const [name, data] of held) cluster.holdSecret({ namespace: key.namespace, name }, data);
}

/** Where the user gave the API key. */
export function keySourceOf({ keySecret: { name } }: Manifest, files: readonly SecretFile[]): string {
  const isFile = files.some((file) => file.name === name);
  return isFile ? `the file of --secret ${name}` : 'the Secret of the manifest';
}

/** The keys that a run reads of this Secret; the first is what a file gives. */
function keysOf(name: string, { keySecret, gitTargets }: Manifest): readonly string[] {
  return [
    ...(name === keySecret.name ? [keySecret.key ?? defaultSecretKey] : []),
    ...(gitTargets.some(({ secretName }) => secretName === name) ? gitKeys : []),
  ];
}

async function readSecretData(
  { name, path }: SecretFile,
  keys: readonly string[],
  isKey: boolean,
): Promise<SecretData> {
  try {
    if (!(await stat(path)).isDirectory()) {
      const value = await readValue(path);
      return Object.fromEntries(keys.slice(0, 1).map((key) => [key, value]));
    }
    const entries: [string, Uint8Array][] = [];
    for (const key of keys) {
      const file = join(path, key);
      if (await isThere(file)) entries.push([key, await readValue(file)]);
    }
    return Object.fromEntries(entries);
  } catch (cause) {
    const message = `--secret ${name} cannot be read (${publishableCode(cause)}); check its path and permissions`;
    throw new CliError(isKey ? 'key' : 'usage', isKey ? 'KeyUnreadable' : 'SecretUnreadable', message, {
      cause,
    });
  }
}

/** Files end with a line feed. No key, token or password does, but a certificate and a private key do. */
async function readValue(path: string): Promise<Uint8Array> {
  const text = await readBounded(path, longestValue);
  if (text === undefined) throw new CliError('usage', 'EFBIG', 'longer than 1 MiB');
  return Buffer.from(/^-----BEGIN /.test(text) ? text : text.trim());
}

function requireAccess(target: string, secretName: string, data: SecretData | undefined): void {
  if (data === undefined) {
    const message = `git target ${target} has no Secret ${secretName}; put it into the manifest, or add --secret ${secretName}=PATH`;
    throw new CliError('usage', 'CredentialsMissing', message);
  }
  const access = readGitAccess(secretName, data);
  if ('message' in access) throw new CliError('usage', access.code, access.message);
}
