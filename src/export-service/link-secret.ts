// The secret that signs links: made at the first start, kept next to the data, readable by its owner only. Refuses to
// start with a damaged one: all issued links would become invalid without a visible cause.

import {
  chmodSync,
  closeSync,
  constants,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { Random } from '../runtime/random.ts';
import { PublishableError, publishableCode } from '../wire/publishable-error.ts';

const secretBytes = 32;

export class LinkSecretError extends PublishableError {}

/**
 * @param directory exists
 * @throws {LinkSecretError} `LinkSecretDamaged`, or the system's code
 */
export function loadLinkSecret(directory: string, random: Random): Uint8Array {
  const path = join(directory, 'link-secret');
  const stored = readStored(path);
  if (stored === undefined) return createSecret(path, random);
  if (!/^[0-9a-f]{64}\n?$/.test(stored)) {
    throw new LinkSecretError(
      'LinkSecretDamaged',
      'the file link-secret in the data folder is damaged: restore it, or delete it to void all links handed out',
    );
  }
  return Buffer.from(stored.trim(), 'hex');
}

function readStored(path: string): string | undefined {
  try {
    const text = readFileSync(path, 'utf8');
    chmodSync(path, 0o600);
    return text;
  } catch (cause) {
    const code = publishableCode(cause);
    if (code === 'ENOENT') return undefined;
    throw new LinkSecretError(code, `cannot read link-secret in the data folder (${code})`, { cause });
  }
}

function createSecret(path: string, random: Random): Uint8Array {
  const secret = random.bytes(secretBytes);
  const partial = `${path}.partial`;
  try {
    rmSync(partial, { force: true });
    const file = openSync(partial, 'wx', 0o600);
    writeSync(file, `${Buffer.from(secret).toString('hex')}\n`);
    fsyncSync(file);
    closeSync(file);
    renameSync(partial, path);
    syncFolder(dirname(path));
    return secret;
  } catch (cause) {
    const code = publishableCode(cause);
    throw new LinkSecretError(code, `cannot write link-secret into the data folder (${code})`, { cause });
  }
}

/** Without it a power cut may take the name back, and the next start would make another secret. */
function syncFolder(path: string): void {
  const folder = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
