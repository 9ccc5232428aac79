// The report of what readers do not find, for a person: the most frequent rows, and what to do for more. Pure. Refuses text of
// a site that is not printable; text of readers is made printable when it is read.

import { printable } from '#platform/wire/printable-text.ts';
import { findingLines } from '../bundle/inspect.ts';
import type { Finding } from '../context.ts';
import type { TableBlock } from '../output/layout.ts';
import { marked } from '../output/paint.ts';
import { type Block, markedLine, prose } from '../output/screen.ts';
import type { InsightAnswer } from './documents.ts';

type Fields = InsightAnswer['fields'];

const mostRows = 20;
const mostExamples = 3;

/** @param name of the StaticExport */
export function insightBlocks(fields: Fields, name: string | undefined): readonly Block[] {
  const { servers, missingAddresses: missing, emptySearches: empty, bundle } = fields;
  const read = servers.filter(({ state }) => state === 'Read').length;
  const others = servers.filter(({ state }) => state !== 'Read');
  return [
    `Servers: ${read} of ${servers.length}`,
    ...others.map(({ server, state, message = 'It counts nothing (--insights=false).' }) =>
      prose(`${server}: ${state === 'Off' ? 'off' : 'not readable'}: ${message}`, '  '),
    ),
    ...findingLines(otherContentFindings(fields)),
    '',
    markedLine(marked('Addresses that readers did not find', 'strong')),
    sumOf(missing),
    ...(missing.entries.length === 0 ? [] : [addressTable(missing.entries, bundle !== undefined)]),
    ...moreOf(missing.entries),
    ...(bundle === undefined && missing.entries.length > 0
      ? [
          prose(
            `The pages that link to them are listed with --bundle ${name === undefined ? 'ARCHIVE' : `sx/${name}`}.`,
          ),
        ]
      : []),
    '',
    markedLine(marked('Searches without a result', 'strong')),
    sumOf(empty),
    ...(empty.entries.length === 0 ? [] : [searchTable(empty.entries)]),
    ...moreOf(empty.entries),
  ];
}

/** What a pipeline shows of servers that were not read. The lines of the screen name them too. */
export const unreadFindings = (servers: Fields['servers']): readonly Finding[] =>
  servers
    .filter(({ state }) => state === 'NotReadable')
    .map(({ server, message }) => ({
      level: 'error',
      code: 'ServerNotRead',
      lines: [
        `Server ${server} was not read, so that the report lacks what it counted`,
        ...(message === undefined ? [] : [message]),
      ],
    }));

/** Of another archive than the servers serve the linking pages are not those that readers see. */
export function otherContentFindings({
  servers,
  bundle,
}: Pick<Fields, 'servers' | 'bundle'>): readonly Finding[] {
  if (bundle === undefined) return [];
  const others = Map.groupBy(
    servers.filter(({ digest = bundle.digest }) => digest !== bundle.digest),
    ({ digest = '' }) => digest,
  );
  return [...others].map(([digest, [first, ...more]]) => ({
    level: 'warning',
    code: 'OtherContentServed',
    lines: [
      `Server ${first?.server}${more.length === 0 ? ' serves' : ` and ${more.length} more serve`} digest ${shortOf(digest)}; --bundle is ${shortOf(bundle.digest)}`,
      'Name the archive that the servers serve in --bundle; during a rollout, wait for its end',
    ],
  }));
}

const shortOf = (digest: string): string => digest.slice(0, 12);

const sumOf = ({ since, requests, leftOut }: Fields['missingAddresses' | 'emptySearches']): Block =>
  prose(`${requests} since ${since}${leftOut === 0 ? '' : `, ${leftOut} of them in no row`}.`);

const moreOf = (entries: readonly unknown[]): readonly Block[] =>
  entries.length > mostRows ? [`${entries.length - mostRows} more with -o json.`] : [];

function addressTable(entries: Fields['missingAddresses']['entries'], hasBundle: boolean): TableBlock {
  return {
    kind: 'table',
    columns: [
      { title: 'REQUESTS', isRight: true },
      { title: 'ADDRESS' },
      { title: 'LAST-HOUR', rank: 1 },
      ...(hasBundle
        ? [
            { title: 'PAGES', isRight: true, rank: 3 },
            { title: 'LINKED-FROM', rank: 2, isCut: true },
          ]
        : []),
    ],
    rows: entries.slice(0, mostRows).map(({ address, count, lastHour, linkingPages }) => [
      String(count),
      address,
      { instant: lastHour },
      ...(linkingPages === undefined
        ? []
        : [
            String(linkingPages.count),
            linkingPages.examples
              .slice(0, mostExamples)
              .map((page) => printable(page, 200))
              .join(', '),
          ]),
    ]),
  };
}

const searchTable = (entries: Fields['emptySearches']['entries']): TableBlock => ({
  kind: 'table',
  columns: [
    { title: 'SEARCHES', isRight: true },
    { title: 'TEXT', isCut: true },
    { title: 'LAST-HOUR', rank: 1 },
  ],
  rows: entries
    .slice(0, mostRows)
    .map(({ text, count, lastHour }) => [String(count), text, { instant: lastHour }]),
});
