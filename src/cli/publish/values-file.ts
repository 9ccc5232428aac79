// Writes the two single files of an export: the values file, which names the version and never the link, and
// `bundle.json`, which holds the link for its owner alone. Each is whole or as before. Refuses: a values file that cannot
// be edited without a change to its other bytes, and a link in place of any other file.

import { readFile, realpath, stat } from 'node:fs/promises';
import {
  formatPublishedBundle,
  longestBundleJson,
  type PublishedBundle,
  parseServedBundle,
} from '#bundle/published-bundle.ts';
import { planValuesEdit } from '#operator/targets/values.ts';
import { publishableCode } from '#platform/wire/publishable-error.ts';
import { CliError } from '../cli-error.ts';
import { admitFile } from '../output/admitted-file.ts';
import { namedPath, notWritten, writeWhole } from '../output/destination.ts';
import { placesOf } from './admit.ts';

const valuesFlag = '--values';
const linkFileFlag = '--link-file';

/** Before an export begins. @throws {CliError} `ValuesMissing`, `ValuesRefused`, and those of `admitFile` */
export async function admitValues(path: string): Promise<void> {
  await admitFile(path, namedPath(valuesFlag, path));
  // Any version shows whether the file can be edited.
  await planEdit(path, '20000101-000000-00000000', 'usage');
}

/**
 * Before an export begins.
 *
 * @param others files of the same command, by flag: none of them may be the link file
 * @throws {CliError} `DestinationExists`, and those of `admitFile`
 */
export async function admitLinkFile(
  path: string,
  others: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const name = namedPath(linkFileFlag, path);
  await admitFile(path, name);
  const places = await placesOf(path);
  for (const [flag, other] of Object.entries(others)) {
    if (other === undefined) continue;
    const shared = (await placesOf(other)).some((place) => places.includes(place));
    if (!shared) continue;
    const message = `${name} and ${flag} name the same file; name another file`;
    throw new CliError('usage', 'DestinationRefused', message);
  }
  await requireLinkFile(path);
}

/** Of a file that is there, only one of a link is replaced. An empty one holds nothing. */
async function requireLinkFile(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined || found.size === 0 || (await isBundleJson(path, found.size))) return;
  const message = `${namedPath(linkFileFlag, path)} exists and is not a bundle.json; name another path, or move it away`;
  throw new CliError('usage', 'DestinationExists', message);
}

async function isBundleJson(path: string, size: number): Promise<boolean> {
  if (size > longestBundleJson) return false;
  try {
    parseServedBundle(await readFile(path, 'utf8'));
    return true;
  } catch {
    return false;
  }
}

/**
 * Sets `staticExport.enabled` and `.version` and leaves every other byte. Of a symbolic link, the file behind it
 * is edited. A file that does not exist is refused, because its name may be mistyped.
 *
 * @throws {CliError} `ValuesMissing`, `ValuesRefused`, `DestinationUnreadable`, `DestinationNotWritten`
 */
export async function writeValues(path: string, version: string): Promise<void> {
  const text = await planEdit(path, version, 'notWritten');
  if (text === undefined) return;
  const target = await realpath(path).catch(() => path);
  const mode = await stat(target).then(
    (found) => found.mode & 0o777,
    () => undefined,
  );
  await writeWhole(target, text, mode).catch((error: unknown) => {
    throw notWritten(namedPath(valuesFlag, path), error);
  });
}

/** False where the file cannot be read or edited: writing it says why. */
export const holdsVersion = (path: string, version: string): Promise<boolean> =>
  planEdit(path, version, 'notWritten').then(
    (text) => text === undefined,
    () => false,
  );

/** @returns the new text; `undefined` where the file has that version */
async function planEdit(
  path: string,
  version: string,
  outcome: 'usage' | 'notWritten',
): Promise<string | undefined> {
  const plan = planValuesEdit(await readValues(path, outcome), { enabled: true, version });
  if (plan.outcome === 'refused') {
    throw new CliError(
      outcome,
      'ValuesRefused',
      `${namedPath(valuesFlag, path)} cannot be edited: ${plan.message}`,
    );
  }
  return plan.outcome === 'edit' ? plan.text : undefined;
}

async function readValues(path: string, outcome: 'usage' | 'notWritten'): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    const name = namedPath(valuesFlag, path);
    if (publishableCode(cause) === 'ENOENT') {
      const message = `${name} does not exist; create it, or correct the path`;
      throw new CliError(outcome, 'ValuesMissing', message, { cause });
    }
    const message = `${name} cannot be read (${publishableCode(cause)}); check its permissions`;
    throw new CliError(outcome, 'DestinationUnreadable', message, { cause });
  }
}

/** `bundle.json` with the link, for its owner alone. Written only where it differs. @throws {CliError} `DestinationExists` */
export async function writeLinkFile(path: string, bundle: PublishedBundle): Promise<void> {
  const text = `${formatPublishedBundle(bundle)}\n`;
  const found = await stat(path).catch(() => undefined);
  const isPrivate = found !== undefined && (found.mode & 0o077) === 0;
  if (isPrivate && (await readFile(path, 'utf8').catch(() => undefined)) === text) return;
  await requireLinkFile(path);
  await writeWhole(path, text, 0o600).catch((error: unknown) => {
    throw notWritten(namedPath(linkFileFlag, path), error);
  });
}
