// `get`, `status` and `history`: what the cluster says of StaticExports. Refuses: an answer that is not printable, and a
// Secret.

import type { Condition } from '#operator/staticexport/status-schema.ts';
import { CliError } from '../cli-error.ts';
import { programName } from '../command.ts';
import type { CliContext } from '../context.ts';
import type { TableBlock, TableCell, TableColumn } from '../output/layout.ts';
import { marked, type Paint, type TextSpan } from '../output/paint.ts';
import { type Block, markedLine, prose, stepBlocks } from '../output/screen.ts';
import { type ClusterFlags, withCluster } from './client.ts';
import type { StaticExportAnswer } from './documents.ts';
import { nextSteps } from './next-steps.ts';
import {
  conditionsOf,
  type ExportSummary,
  exportSummaryOf,
  historyOf,
  nameOf,
  paintOf,
  paintOfExported,
  siteOf,
} from './summary.ts';
import { watchExports } from './watch.ts';

interface GetValues extends ClusterFlags {
  readonly allNamespaces: boolean;
  readonly selector: string | undefined;
  readonly watch: boolean;
}

export async function getExports(
  values: GetValues,
  [name]: readonly string[],
  context: CliContext,
): Promise<StaticExportAnswer<'StaticExportList'>> {
  const { allNamespaces, selector, watch } = values;
  if (watch && context.output !== 'text' && context.output !== 'wide')
    throw new CliError(
      'usage',
      'WatchesAsText',
      '--watch prints a table only; use -o wide or leave out --output',
    );
  if (allNamespaces && name !== undefined) {
    const message = 'NAME and --all-namespaces exclude each other; leave one out';
    throw new CliError('usage', 'NameInAllNamespaces', message);
  }
  return withCluster(values, context, async (client): Promise<StaticExportAnswer<'StaticExportList'>> => {
    const read = async (): Promise<readonly ExportSummary[]> => {
      const objects =
        name === undefined ? await client.list({ allNamespaces, selector }) : [await client.read(name)];
      return objects.map(exportSummaryOf).toSorted((a, b) => (idOf(a) < idOf(b) ? -1 : 1));
    };
    const none = allNamespaces
      ? 'There are no StaticExports.'
      : `There are no StaticExports in namespace ${client.namespace}.`;
    const columns = columnsFor(allNamespaces);
    const allColumns = [...columns, ...wideColumns];
    if (watch) {
      const shown = context.output === 'wide' ? allColumns : columns;
      const watched = { read, tableOf: (all: readonly ExportSummary[]) => tableOf(all, shown), none };
      return watchExports(watched, context, client.signal);
    }
    const items = await read();
    const table = (shown: readonly Column[]): readonly Block[] =>
      items.length === 0 ? [none] : [tableOf(items, shown)];
    return {
      outcome: 'done',
      kind: 'StaticExportList',
      fields: { items },
      lines: table(columns),
      wide: table(allColumns),
      names: items.map(nameOf),
    };
  });
}

interface Column extends TableColumn {
  readonly read: (one: ExportSummary) => TableCell | undefined;
}

const usualColumns: readonly Column[] = [
  { title: 'NAME', read: ({ name }) => name },
  {
    title: 'READY',
    read: ({ ready, reason }) => marked(ready, paintOf({ type: 'Ready', status: ready, reason })),
  },
  { title: 'REASON', read: ({ reason }) => reason },
  { title: 'EXPORTED', rank: 5, read: ({ exported }) => marked(exported ?? '', paintOfExported(exported)) },
  { title: 'JOB', rank: 4, read: (one) => (one.job?.state === 'completed' ? '' : jobWords(one)) },
  { title: 'VERSION', rank: 3, read: ({ version }) => version },
  { title: 'PAGES', rank: 1, read: ({ pages }) => pages?.toString() },
  { title: 'LINK-EXPIRES', rank: 2, read: ({ linkExpirationTime }) => ({ instant: linkExpirationTime }) },
];
const wideColumns: readonly Column[] = [
  { title: 'DOMAIN', read: siteOf },
  { title: 'CANDIDATE', read: ({ candidate }) => candidate },
  { title: 'NEXT-EXPORT', read: ({ nextExportTime }) => ({ instant: nextExportTime }) },
  { title: 'DIGEST', read: ({ digest }) => digest?.slice(0, 12) },
];

const columnsFor = (allNamespaces: boolean): readonly Column[] =>
  allNamespaces
    ? [{ title: 'NAMESPACE', read: ({ namespace }) => namespace }, ...usualColumns]
    : usualColumns;

const tableOf = (items: readonly ExportSummary[], columns: readonly Column[]): TableBlock => ({
  kind: 'table',
  columns,
  rows: items.map((one) => columns.map(({ read }) => read(one) ?? '')),
});

/** `running, 42 %` */
function jobWords({ job }: ExportSummary): string | undefined {
  if (job === undefined) return undefined;
  const isRunning = job.state !== 'completed' && job.progress !== undefined;
  return [job.state, isRunning ? `${job.progress} %` : undefined].filter(Boolean).join(', ');
}

export function showStatus(
  values: ClusterFlags,
  [name = '']: readonly string[],
  context: CliContext,
): Promise<StaticExportAnswer<'StaticExportStatus'>> {
  return withCluster(values, context, async ({ read }): Promise<StaticExportAnswer<'StaticExportStatus'>> => {
    const object = await read(name);
    const summary = exportSummaryOf(object);
    const conditions = conditionsOf(object);
    const next = nextSteps(
      summary,
      conditions.map(({ message }) => message),
    );
    const called = next.map((step) => step.replace(programName, context.called));
    const ready = { type: 'Ready', status: summary.ready, reason: summary.reason };
    const facts: readonly (readonly [string, string | undefined, paint?: Paint | undefined])[] = [
      ['Domain', summary.domain],
      ['Project', summary.projectId],
      ['Ready', `${summary.ready}${summary.reason === '' ? '' : ` (${summary.reason})`}`, paintOf(ready)],
      ['Suspended', summary.suspended ? 'yes' : undefined],
      ['Pinned', summary.pinned],
      ['Version', summary.version],
      ['Digest', summary.digest],
      ['Pages', summary.pages?.toString()],
      ['Copy', summary.ref],
      ['Link expires', summary.linkExpirationTime],
      ['Next refresh', summary.nextRefreshTime],
      ['Next export', summary.nextExportTime],
      ['Job', summary.job && [summary.job.id, jobWords(summary)].filter(Boolean).join(', ')],
      ['Candidate', summary.candidate],
    ];
    return {
      outcome: 'done',
      kind: 'StaticExportStatus',
      fields: { ...summary, conditions, next: called },
      lines: [
        `${summary.namespace}/${summary.name}`,
        ...facts.flatMap(([title, text, paint]) =>
          text === undefined ? [] : [markedLine(`  ${`${title}:`.padEnd(14)}`, ...verdictOf(text, paint))],
        ),
        ...(conditions.length === 0 ? [] : ['Conditions:']),
        ...conditions.map((one, at) => conditionBlock(one, conditions.slice(0, at))),
        ...(called.length === 0 ? [] : ['Next:', ...stepBlocks(called)]),
      ],
    };
  });
}

/** The word before the reason has the meaning. */
function verdictOf(text: string, paint: Paint | undefined): readonly TextSpan[] {
  const [word = '', ...rest] = text.split(' ');
  return paint === undefined ? [text] : [marked(word, paint), ['', ...rest].join(' ')];
}

/** A message that an earlier condition has is not repeated: Stalled and Exported often explain Ready. */
function conditionBlock(condition: Condition, earlier: readonly Condition[]): Block {
  const { type, status, reason, message } = condition;
  const isNew = !earlier.some((one) => one.message === message);
  const text = isNew ? `: ${message}` : '';
  const paint = paintOf(condition);
  return prose([`${type}=`, marked(status, paint), ' (', marked(reason, paint), `)${text}`], '  ', '    ');
}

export function showHistory(
  values: ClusterFlags,
  [name = '']: readonly string[],
  context: CliContext,
): Promise<StaticExportAnswer<'VersionHistory'>> {
  return withCluster(values, context, async ({ read }): Promise<StaticExportAnswer<'VersionHistory'>> => {
    const versions = historyOf(await read(name));
    const table: TableBlock = {
      kind: 'table',
      columns: [
        { title: 'VERSION' },
        { title: 'ACTIVE' },
        { title: 'PAGES', rank: 2 },
        { title: 'DIGEST', rank: 1 },
        { title: 'EXPORTED', rank: 3 },
      ],
      rows: versions.map((one) => [
        one.version,
        marked(one.active ? '*' : '', 'good'),
        String(one.pages ?? ''),
        (one.digest ?? '').slice(0, 12),
        { instant: one.exportTime ?? '' },
      ]),
    };
    return {
      outcome: 'done',
      kind: 'VersionHistory',
      fields: { versions },
      lines: versions.length === 0 ? ['Nothing has been published yet.'] : [table],
    };
  });
}

const idOf = ({ namespace, name }: ExportSummary): string => `${namespace}/${name}`;
