// LibreOffice Calc without a window: opens CSV with settings that a user may choose, and says which cells are formulas, or
// saves it again. Each start has a profile of its own, so that no setting and no other LibreOffice of the machine has a say.

import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { mustRun } from '../../support/command.ts';
import { requireHere } from '../requirement.ts';

const program = '/usr/bin/soffice';
requireHere(!existsSync(program) && 'LibreOffice Calc is not installed');

export interface OpenedSheet {
  readonly rows: number;
  /** Of each cell that is one, as LibreOffice keeps it. */
  readonly formulas: readonly string[];
}

/**
 * @param files of CSV, each with another name
 * @param options of LibreOffice's CSV filter, by which the files are read
 */
export async function openInSpreadsheet(
  files: readonly string[],
  options: string,
): Promise<readonly OpenedSheet[]> {
  const documents = await convert(files, options, 'fods');
  return documents.map((document) => ({
    rows: [...document.matchAll(/<table:table-row\b/g)].length,
    formulas: [...document.matchAll(/ table:formula="([^"]*)"/g)].map(([, formula = '']) => formula),
  }));
}

/** @returns the CSV that LibreOffice writes of the sheet that it has read */
export async function saveFromSpreadsheet(file: string, options: string): Promise<string> {
  const [text = ''] = await convert([file], options, 'csv');
  return text;
}

async function convert(
  files: readonly string[],
  options: string,
  format: 'fods' | 'csv',
): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'spreadsheet-'));
  try {
    const profile = pathToFileURL(join(folder, 'profile'));
    const to = format === 'csv' ? 'csv:Text - txt - csv (StarCalc):44,34,76,1' : format;
    await mustRun(
      [
        ...[program, `-env:UserInstallation=${profile}`, '--headless', '--norestore'],
        ...[`--infilter=CSV:${options}`, '--convert-to', to, '--outdir', folder, ...files],
      ],
      { timeoutMs: 240_000 },
    );
    const written = files.map((file) => join(folder, `${basename(file, '.csv')}.${format}`));
    return await Promise.all(written.map((file) => readFile(file, 'utf8')));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
