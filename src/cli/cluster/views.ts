// `get`, `status` and `history`: what the cluster says of StaticExports. Refuses: an answer that is not printable, and a
// Secret.

import type { Condition } from '../../staticexport/status-schema.ts';
import { CliError } from '../cli-error.ts';
import { programName } from '../command.ts';
import type { CliContext, CommandResult } from '../context.ts';
import { terminalWidth, wrapText } from '../output/tree-lines.ts';
import { type ClusterFlags, withCluster } from './client.ts';
import { nextSteps, withoutAnnotationAdvice } from './next-steps.ts';
import { conditionsOf, type ExportSummary, historyOf, nameOf, summaryOf, tableOf } from './summary.ts';

interface GetValues extends ClusterFlags {
  readonly allNamespaces: boolean;
  readonly selector: string | undefined;
}

export async function getExports(
  values: GetValues,
  [name]: readonly string[],
  context: CliContext,
): Promise<CommandResult> {
  const { allNamespaces, selector } = values;
  if (allNamespaces && name !== undefined) {
    const message = 'NAME and --all-namespaces exclude each other; leave one out';
    throw new CliError('usage', 'NameInAllNamespaces', message);
  }
  return withCluster(values, context, async (client): Promise<CommandResult> => {
    const objects =
      name === undefined ? await client.list({ allNamespaces, selector }) : [await client.read(name)];
    const items = objects.map(summaryOf).toSorted((a, b) => (idOf(a) < idOf(b) ? -1 : 1));
    const none = allNamespaces
      ? 'There are no StaticExports.'
      : `There are no StaticExports in namespace ${client.namespace}.`;
    const table = (columns: readonly Column[]): readonly string[] =>
      items.length === 0 ? [none] : tableOf(...cellsOf(items, columns));
    const columns = [...(allNamespaces ? [namespaceColumn] : []), ...usualColumns];
    return {
      outcome: 'done',
      kind: 'StaticExportList',
      fields: { items },
      lines: table(columns),
      wide: table([...columns, ...wideColumns]),
      names: items.map(nameOf),
    };
  });
}

type Column = readonly [string, (one: ExportSummary) => string | undefined];

const namespaceColumn: Column = ['NAMESPACE', ({ namespace }) => namespace];
const usualColumns: readonly Column[] = [
  ['NAME', ({ name }) => name],
  ['READY', ({ ready }) => ready],
  ['REASON', ({ reason }) => reason],
  ['EXPORTED', ({ exported }) => exported],
  ['VERSION', ({ version }) => version],
  ['PAGES', ({ pages }) => pages?.toString()],
  ['LINK-EXPIRES', ({ linkExpirationTime }) => linkExpirationTime],
];
const wideColumns: readonly Column[] = [
  ['DOMAIN', ({ domain }) => domain],
  ['JOB', ({ job }) => job?.state],
  ['CANDIDATE', ({ candidate }) => candidate],
  ['NEXT-EXPORT', ({ nextExportTime }) => nextExportTime],
  ['DIGEST', ({ digest }) => digest?.slice(0, 12)],
];

function cellsOf(items: readonly ExportSummary[], columns: readonly Column[]): Parameters<typeof tableOf> {
  const rows = items.map((one) => columns.map(([, read]) => read(one) ?? ''));
  return [columns.map(([title]) => title), rows];
}

export function showStatus(
  values: ClusterFlags,
  [name = '']: readonly string[],
  context: CliContext,
): Promise<CommandResult> {
  return withCluster(values, context, async ({ read }): Promise<CommandResult> => {
    const object = await read(name);
    const summary = summaryOf(object);
    const conditions = conditionsOf(object);
    const next = nextSteps(summary);
    const called = next.map((step) => step.replace(programName, context.called));
    const facts: readonly (readonly [string, string | undefined])[] = [
      ['Domain', summary.domain],
      ['Ready', `${summary.ready} (${summary.reason})`],
      ['Suspended', summary.suspended ? 'yes' : undefined],
      ['Pinned', summary.pinned],
      ['Version', summary.version],
      ['Digest', summary.digest],
      ['Pages', summary.pages?.toString()],
      ['Copy', summary.ref],
      ['Link expires', summary.linkExpirationTime],
      ['Next refresh', summary.nextRefreshTime],
      ['Next export', summary.nextExportTime],
      ['Job', summary.job && [summary.job.id, summary.job.state].filter(Boolean).join(', ')],
      ['Candidate', summary.candidate],
    ];
    return {
      outcome: 'done',
      kind: 'StaticExportStatus',
      fields: { ...summary, conditions, next: called },
      lines: [
        `${summary.namespace}/${summary.name}`,
        ...facts.flatMap(([title, text]) =>
          text === undefined ? [] : [`  ${`${title}:`.padEnd(14)}${text}`],
        ),
        'Conditions:',
        ...conditions.flatMap((one, at) => conditionLines(one, conditions.slice(0, at), next)),
        ...(called.length === 0 ? [] : ['Next:', ...called.map((step) => `  ${step}`)]),
      ],
    };
  });
}

/** A message that an earlier condition has is not repeated: Stalled and Exported often explain Ready. */
function conditionLines(
  { type, status, reason, message }: Condition,
  earlier: readonly Condition[],
  next: readonly string[],
): readonly string[] {
  const isNew = !earlier.some((one) => one.message === message);
  const text = `${type}=${status} (${reason})${isNew ? `: ${withoutAnnotationAdvice(message, next)}` : ''}`;
  return wrapText(text, terminalWidth - 4).map((line, at) => `${at === 0 ? '  ' : '    '}${line}`);
}

export function showHistory(
  values: ClusterFlags,
  [name = '']: readonly string[],
  context: CliContext,
): Promise<CommandResult> {
  return withCluster(values, context, async ({ read }): Promise<CommandResult> => {
    const versions = historyOf(await read(name));
    const rows = versions.map((one) => [
      String(one['version']),
      one['active'] === true ? '*' : '',
      String(one['pages'] ?? ''),
      String(one['digest'] ?? '').slice(0, 12),
      String(one['exportTime'] ?? ''),
    ]);
    return {
      outcome: 'done',
      kind: 'VersionHistory',
      fields: { versions },
      lines:
        rows.length === 0
          ? ['Nothing has been published yet.']
          : tableOf(['VERSION', 'ACTIVE', 'PAGES', 'DIGEST', 'EXPORTED'], rows),
    };
  });
}

const idOf = ({ namespace, name }: ExportSummary): string => `${namespace}/${name}`;
