// The Secrets of a run, with the API key: from the manifest, or from the files that `--secret` names. They stay in
// memory. Refuses: a `--secret` that the manifest does not use, which is a typing error.

import { readFile } from 'node:fs/promises';
import { defaultSecretKey } from '../../staticexport/names.ts';
import { publishableCode } from '../../wire/publishable-error.ts';
import { CliError } from '../cli-error.ts';
import type { FolderCluster } from './folder-cluster.ts';
import type { Manifest } from './manifest.ts';
import type { KeySource } from './run-words.ts';

/** `--secret NAME=FILE`. */
export interface SecretFile {
  readonly name: string;
  readonly path: string;
}

/** @throws {CliError} `SecretUnknown`, `KeyUnreadable` */
export async function holdSecrets(
  { key: { namespace }, keySecret, secrets }: Manifest,
  files: readonly SecretFile[],
  cluster: Pick<FolderCluster, 'holdSecret'>,
): Promise<void> {
  for (const [name, data] of secrets) cluster.holdSecret({ namespace, name }, data);
  for (const { name, path } of files) {
    if (name !== keySecret.name) {
      const message = `--secret ${name} is not used: spec.api.keySecretRef names Secret ${keySecret.name}`;
      throw new CliError('usage', 'SecretUnknown', message);
    }
    const text = await readFile(path, 'utf8').catch((cause: unknown) => {
      const message = `the file of --secret ${name} cannot be read (${publishableCode(cause)}); check its path and permissions`;
      throw new CliError('key', 'KeyUnreadable', message, { cause });
    });
    cluster.holdSecret(
      { namespace, name },
      { [keySecret.key ?? defaultSecretKey]: Buffer.from(text.trim()) },
    );
  }
}

export function keySourceOf({ keySecret: { name } }: Manifest, files: readonly SecretFile[]): KeySource {
  return { name, isFile: files.some((file) => file.name === name) };
}
