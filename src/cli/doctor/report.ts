// Writes the report of `doctor` for a support case: an archive that only its owner can read. Owns where it is written.
// Refuses: replacing a file, and files of the disk. Only a report loads the library of its archive.

import { buffer } from 'node:stream/consumers';
import { ZipFile } from 'yazl';
import { isThere } from '#platform/runtime/folder.ts';
import { CliError } from '../cli-error.ts';
import type { ClusterClient } from '../cluster/client.ts';
import type { CliContext, CommandResult } from '../context.ts';
import { requireFolderAround } from '../output/admitted-file.ts';
import { namedPath, notWritten, writeWhole } from '../output/destination.ts';
import { outputApiVersion } from '../output/format.ts';
import type { ClusterFacts } from './cluster-state.ts';
import { collectReport, type ReportFile } from './report-files.ts';

/** Before the cluster is read. @throws {CliError} `DestinationExists`, and those of `requireFolderAround` */
export async function requireNewReport(path: string): Promise<void> {
  if (await isThere(path)) {
    const message = 'the file of --report exists; name another, or remove it';
    throw new CliError('usage', 'DestinationExists', message);
  }
  await requireFolderAround(path, namedPath('--report', path));
}

/** @throws {CliError} `DestinationExists`, `DestinationNotWritten` */
export async function writeReport(
  path: string,
  { kind, fields }: CommandResult,
  facts: ClusterFacts,
  client: ClusterClient,
  { clock }: Pick<CliContext, 'clock'>,
): Promise<void> {
  const document = { apiVersion: outputApiVersion, kind, ...fields };
  const files = await collectReport(document, facts, client);
  try {
    const placement = { name: '--report', owner: 'doctor', mayReplace: async () => false };
    await writeWhole(path, await zipOf(files, clock.now()), 0o600, placement);
  } catch (error) {
    throw notWritten(namedPath('--report', path), error);
  }
}

/** @param now epoch ms, of every file */
export function zipOf(files: readonly ReportFile[], now: number): Promise<Buffer> {
  const zip = new ZipFile();
  for (const { path, text } of files)
    zip.addBuffer(Buffer.from(text), path, { mtime: new Date(now), mode: 0o600 });
  zip.end();
  return buffer(zip.outputStream);
}
