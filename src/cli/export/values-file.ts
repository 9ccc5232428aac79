// Writes the two single files of an export: the values file, which names the version and never the link, and
// `bundle.json`, which holds the link for its owner alone. Each is whole or as before. Refuses: a values file that cannot
// be edited without a change to its other bytes.

import { readFile, realpath, stat } from 'node:fs/promises';
import { formatPublishedBundle, type PublishedBundle } from '../../bundle/published-bundle.ts';
import { planValuesEdit } from '../../targets/values.ts';
import { publishableCode } from '../../wire/publishable-error.ts';
import { CliError } from '../cli-error.ts';
import { namedPath, notWritten, writeWhole } from '../output/destination.ts';
import { admitFile } from './admit.ts';

const valuesFlag = '--values';
const linkFileFlag = '--link-file';

/** Before an export begins. @throws {CliError} `ValuesMissing`, `ValuesRefused`, and those of `admitFile` */
export async function admitValues(path: string): Promise<void> {
  await admitFile(path, namedPath(valuesFlag, path));
  // Any version shows whether the file can be edited.
  await planEdit(path, '20000101-000000-00000000', 'usage');
}

/** Before an export begins. @throws {CliError} those of `admitFile` */
export const admitLinkFile = (path: string): Promise<void> => admitFile(path, namedPath(linkFileFlag, path));

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

/** `bundle.json` with the link, for its owner alone. Written only where it differs. */
export async function writeLinkFile(path: string, bundle: PublishedBundle): Promise<void> {
  const text = `${formatPublishedBundle(bundle)}\n`;
  const found = await stat(path).catch(() => undefined);
  const isPrivate = found !== undefined && (found.mode & 0o077) === 0;
  if (isPrivate && (await readFile(path, 'utf8').catch(() => undefined)) === text) return;
  await writeWhole(path, text, 0o600).catch((error: unknown) => {
    throw notWritten(namedPath(linkFileFlag, path), error);
  });
}
