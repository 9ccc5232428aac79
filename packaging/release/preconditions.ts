// What a release needs, asked before its first minute of work: programs, the secret key, a folder for the files. Each refusal is
// one sentence with its remedy.

import { lstat, mkdir, readdir, readFile } from 'node:fs/promises';
import type { SignKey } from '#mirror/kit/minisign.ts';
import { parseSignKey } from '#mirror/kit/minisign-secret-key.ts';
import { isReleaseFile } from './release-files.ts';
import { type ToolPlace, toolVersion } from './tool.ts';

/** A sentence for the user, without a stack. */
export class ReleaseRefusal extends Error {}

const tools = [
  { command: ['helm', 'version', '--short'], install: 'helm', ofImage: false },
  { command: ['buildah', '--version'], install: 'buildah', ofImage: true },
  { command: ['dpkg-deb', '--version'], install: 'dpkg', ofImage: true },
] as const;

/** @throws ReleaseRefusal with each program that is missing */
export async function requireTools(isImageWanted: boolean, place: ToolPlace): Promise<void> {
  const missing: string[] = [];
  for (const { command, install, ofImage } of tools) {
    if ((!ofImage || isImageWanted) && (await toolVersion(command, place)) === undefined)
      missing.push(install);
  }
  if (missing.length > 0) {
    throw new ReleaseRefusal(
      `A release needs programs that are not installed: ${missing.join(', ')}. Install them, and run again.`,
    );
  }
}

export interface KeyFiles {
  /** Of a secret key of minisign. */
  readonly key: string;
  readonly passwordFile: string | undefined;
}

/** @throws ReleaseRefusal where a file cannot be read, or opens no key */
export async function readSignKey({ key, passwordFile }: KeyFiles): Promise<SignKey> {
  const read = (flag: string, file: string): Promise<string> =>
    readFile(file, 'utf8').catch((cause: NodeJS.ErrnoException) => {
      throw new ReleaseRefusal(`The file of ${flag} cannot be read (${cause.code}). Name another.`, {
        cause,
      });
    });
  const password =
    passwordFile === undefined
      ? undefined
      : (await read('--key-password-file', passwordFile)).replace(/\r?\n$/, '');
  return parseSignKey(await read('--key', key), password).catch((cause: unknown) => {
    const said = cause instanceof Error ? cause.message : '';
    throw new ReleaseRefusal(`The key cannot be used: ${said} (--key, --key-password-file).`, { cause });
  });
}

/**
 * The files of an earlier release in a folder, which another one may replace.
 * @throws ReleaseRefusal where something else is there
 */
export async function findReplaceable(out: string): Promise<readonly string[]> {
  const found = await lstat(out).catch(() => undefined);
  if (found !== undefined && !found.isDirectory()) {
    throw new ReleaseRefusal(`${out} is not a folder. Name another with --out.`);
  }
  await mkdir(out, { recursive: true });
  const names = await readdir(out);
  const foreign = names.filter((name) => !isReleaseFile(name));
  if (foreign.length > 0) {
    throw new ReleaseRefusal(
      `${out} holds files that are not of a release: ${foreign.join(', ')}. Name another folder.`,
    );
  }
  return names;
}
