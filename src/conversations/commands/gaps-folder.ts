// The folder of `conversations gaps --to`: gaps.html for people and gaps.json for the next run. The report holds words of
// visitors, so only the owner reads it, and what the command prints has none of them. Invariant: gaps.json is written last,
// so that a run which ends early is repeated from the same report before.

import { join } from 'node:path';
import { counted } from '#cli/output/amounts.ts';
import { namedPath, notWritten, writeWhole } from '#cli/output/destination.ts';
import { isThere, makeFolder } from '#platform/runtime/folder.ts';
import { htmlReport } from '../gaps/html.ts';
import type { GapReport } from '../gaps/report-schema.ts';
import type { ConversationAnswer } from './documents.ts';

const previousName = 'gaps.json';
const pageName = 'gaps.html';

/** @returns the report before, if the folder has one */
export async function previousIn(folder: string): Promise<string | undefined> {
  const path = join(folder, previousName);
  return (await isThere(path)) ? path : undefined;
}

/**
 * @param json the report as `--format json` prints it
 * @throws {CliError} `DestinationNotWritten`
 */
export async function writeGapsFolder(
  folder: string,
  report: GapReport,
  json: string,
): Promise<ConversationAnswer<'GapsWritten'>> {
  try {
    await makeFolder(folder, 0o700);
    await writeWhole(join(folder, pageName), htmlReport(report), 0o600);
    await writeWhole(join(folder, previousName), json, 0o600);
  } catch (error) {
    throw notWritten(namedPath('--to', folder), error);
  }
  const { newGaps, previousTime, generatedTime } = report;
  const { turns } = report.turns;
  const open = report.gaps.filter(({ state }) => state === 'Open' || state === 'Reopened').length;
  const news =
    previousTime === undefined
      ? '; the next report says which are new'
      : `, ${newGaps} of them new or reopened since ${previousTime.slice(0, 10)}`;
  return {
    outcome: 'done',
    kind: 'GapsWritten',
    fields: { path: folder, turns, open, newGaps, generatedTime },
    lines: [
      `${counted(turns, 'turn')}: ${counted(open, 'open gap')}${news}`,
      `Written: ${pageName} and ${previousName}`,
    ],
  };
}
