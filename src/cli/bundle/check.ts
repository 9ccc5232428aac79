// `bundle check`: whether the site of an archive is self-contained. What it loads from other hosts, and files that it lacks, are the
// answer no, not a failure of the command. Refuses an archive without pages, and to read pages on the main thread.

import { join } from 'node:path';
import type { BrowserReport } from '#bundle/site-report.ts';
import { requireBrowserLibrary } from '#site/browser/browser-library.ts';
import { checkSiteInThread } from '#site/check/checking.ts';
import type { FoundList, FoundLoad, SiteCheck } from '#site/check/site-check.ts';
import type { CliContext, Finding } from '../context.ts';
import { counted } from '../output/amounts.ts';
import { marked } from '../output/paint.ts';
import { type Block, markedLine, prose } from '../output/screen.ts';
import { browserLines } from './browser-lines.ts';
import type { ArchiveAnswer } from './documents.ts';
import { contentLines, requirePages, summaryFields } from './inspect.ts';
import { type SizeLimits, withPack } from './reading.ts';

interface CheckValues extends SizeLimits {
  readonly allowExternal: readonly string[];
  readonly allowMissing: boolean;
  readonly basePath: string;
  /** Path of a Chromium. */
  readonly verifyInBrowser: string | undefined;
}

export async function checkArchive(
  values: CheckValues,
  [path = '']: readonly string[],
  context: CliContext,
): Promise<ArchiveAnswer<'CheckedArchive'>> {
  const { allowExternal: allowedHosts, basePath, verifyInBrowser: executable } = values;
  const { progress, signal } = context;
  if (executable !== undefined) requireBrowserLibrary();
  return withPack(path, values, context, async ({ packPath, index, workFolder }) => {
    requirePages(index);
    progress.phase('Checking the site');
    const folder = join(workFolder, 'browser');
    const browserRequest = executable === undefined ? undefined : { executable, folder, allowedHosts };
    const { check, browser } = await checkSiteInThread(
      context.siteWorker,
      { packPath, index, basePath, allowedHosts, browser: browserRequest },
      {
        signal,
        onProgress: (at) => {
          if ('files' in at)
            progress.advance((100 * at.files) / index.files.length, counted(at.files, 'file'));
          else progress.advance((100 * at.pages) / at.of, `${counted(at.pages, 'page')} in the browser`);
        },
      },
    );
    progress.end();
    const findings = [...findingsOf(check, values), ...browserFindings(browser)];
    const isSelfContained = findings.every(({ level }) => level !== 'error');
    return {
      outcome: isSelfContained ? 'done' : 'no',
      kind: 'CheckedArchive',
      fields: {
        ...summaryFields(index),
        selfContained: isSelfContained,
        ...check,
        ...(browser !== undefined && { browser }),
      },
      lines: [
        isSelfContained
          ? markedLine('The site is ', marked('self-contained', 'good'), '.')
          : markedLine('The site is ', marked('not self-contained', 'bad'), '.'),
        ...contentLines(index),
        `Read:    ${counted(check.filesRead, 'text')}`,
        ...checkLines(check),
        ...browserLines(browser),
        ...findings.map(findingLine),
      ],
      findings,
    };
  });
}

const findingLine = ({ level, lines }: Finding): Block => {
  const mark = level === 'error' ? marked('Error', 'bad') : marked('Warning', 'unsure');
  return prose([mark, `: ${lines.join(' ')}`], '', '  ');
};

function findingsOf(
  { external, missing, notRead }: SiteCheck,
  { allowMissing }: CheckValues,
): readonly Finding[] {
  const missingLevel = allowMissing ? 'warning' : 'error';
  return [
    ...findingOf('error', 'ExternalLoads', 'Loads from other hosts', external, remedies.external),
    ...findingOf(missingLevel, 'MissingLoads', 'Loads without a file', missing, remedies.missing),
    ...findingOf('warning', 'FilesNotRead', 'Texts not read to their end', notRead, remedies.notRead),
  ];
}

const remedies = {
  external: 'Export the site with these files in it, or allow a host with --allow-external.',
  missing: 'Fix the addresses, name the path of the site in --base-path, or add --allow-missing.',
  notRead: 'Split texts of more than 8 MiB, and check with --verify-in-browser what they load.',
  offSite: 'Find what asks for them in the scripts of the site, or allow a host with --allow-external.',
  errors: 'Open the pages at the origin, and compare its console.',
  notOpened: 'Check the archive on a faster machine.',
};

function findingOf(
  level: Finding['level'],
  code: string,
  what: string,
  { count }: Pick<FoundList<unknown>, 'count'>,
  remedy: string,
): readonly Finding[] {
  return count === 0 ? [] : [{ level, code, lines: [`${what}: ${count}.`, remedy] }];
}

/** An error in the console says nothing of other hosts, and its origin may have it too. */
function browserFindings(browser: BrowserReport | undefined): readonly Finding[] {
  if (browser === undefined) return [];
  const { offSiteRequests, consoleErrors, notOpened } = browser;
  return [
    ...findingOf('error', 'OffSiteRequests', 'Requests to other hosts', offSiteRequests, remedies.offSite),
    ...findingOf('warning', 'ConsoleErrors', 'Errors in the browser', consoleErrors, remedies.errors),
    ...findingOf('warning', 'PagesNotOpened', 'Pages not opened', { count: notOpened }, remedies.notOpened),
  ];
}

function checkLines({ external, allowed, missing, notes, notRead }: SiteCheck): readonly Block[] {
  const section = (title: string, list: FoundList<FoundLoad>): readonly string[] => [
    `${title}: ${list.count === 0 ? 'none' : list.count}`,
    ...list.entries.map(loadWords),
    ...restWords(list),
  ];
  return [
    ...section('From other hosts', external),
    ...section('Missing', missing),
    ...(allowed.count === 0 ? [] : section('From allowed hosts', allowed)),
    ...section('Frames, media, prefetches, connections and late loads of other hosts', notes),
    ...(notRead.count === 0 ? [] : [`Not read: ${notRead.count}`]),
    ...notRead.entries.map(({ path, reason }) => `  ${path} (${reason})`),
    ...restWords(notRead),
  ];
}

/** `  cdn.example.com/a.js (script, from index.html and 3 more files)`. */
function loadWords({ address, use, from, files }: FoundLoad): string {
  const more = files === 1 ? '' : ` and ${counted(files - 1, 'more file')}`;
  return `  ${address} (${use}, from ${from}${more})`;
}

const restWords = ({ count, entries }: FoundList<unknown>): readonly string[] =>
  count > entries.length ? [`  and ${count - entries.length} more`] : [];
