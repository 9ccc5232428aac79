// `bundle repair`: an archive without the known defects of exports, what each rule did to it, and what it kept. Refuses to write
// where --dry-run asks for a report alone, and to read pages on the main thread.

import type { BundleIndex } from '#bundle/bundle-index.ts';
import type { RuleOutcome } from '#bundle/repair/repair.ts';
import { modeText, type RuleChoice, type RuleModes, ruleModes } from '#bundle/repair/rule-modes.ts';
import { printable } from '#platform/wire/printable-text.ts';
import { type RepairedOutcome, remakeInThread } from '#site/remake/remaking.ts';
import type { CliContext, Finding } from '../context.ts';
import { counted, sizeWords } from '../output/amounts.ts';
import { marked } from '../output/paint.ts';
import { type Block, prose } from '../output/screen.ts';
import { requireNewArchive } from './archive-file.ts';
import type { ArchiveAnswer } from './documents.ts';
import { contentWarnings, summaryFields, warningLines } from './inspect.ts';
import { remadePackPath, writeRemadeArchive } from './planned-archive.ts';
import { type SizeLimits, withPack } from './reading.ts';

interface RepairValues extends SizeLimits {
  /** Absent only where nothing is written. */
  readonly to: string | undefined;
  readonly rule: readonly RuleChoice[];
  readonly dryRun: boolean;
  readonly replace: boolean;
}

export async function repairBundle(
  values: RepairValues,
  [source = '']: readonly string[],
  context: CliContext,
): Promise<ArchiveAnswer<'RepairedArchive'>> {
  const { progress, signal } = context;
  const destination = values.dryRun ? undefined : values.to;
  if (destination !== undefined) await requireNewArchive(destination, values.replace);
  const modes = ruleModes(values.rule);
  return withPack(source, values, context, async (archive) => {
    progress.phase('Repairing the archive');
    const toPath = destination === undefined ? undefined : remadePackPath(archive);
    const { packPath, index: old } = archive;
    const { outcome: plan, index: made } = await remakeInThread(
      context.siteWorker,
      { task: 'repair-site', packPath, index: old, modes, toPath },
      {
        signal,
        onProgress: ({ files, of }) => progress.advance((100 * files) / of, counted(files, 'file')),
      },
    );
    const index =
      destination === undefined || toPath === undefined
        ? undefined
        : await writeRemadeArchive(toPath, made, destination, 'bundle repair', values, context);
    const findings = [...keptFindings(plan.rules), ...(index === undefined ? [] : contentWarnings(index))];
    const { digest, pages, sizeBytes } = plan;
    const { files } = made;
    return {
      outcome: 'done',
      kind: 'RepairedArchive',
      fields: {
        ...{ digest, pages, files: files.length, sizeBytes },
        changed: plan.isChanged,
        dryRun: values.dryRun,
        ...(destination !== undefined && { path: destination }),
        old: summaryFields(old),
        rules: ruleFields(plan.rules, modes),
      },
      lines: [
        destination === undefined ? 'Nothing is written (--dry-run).' : `Written: ${printable(destination)}`,
        ...planLines(plan, made, old, modes),
        ...keptLines(plan.rules),
        ...(index === undefined ? [] : warningLines(index)),
      ],
      findings,
    };
  });
}

/** What each rule did, for a document. */
export const ruleFields = (rules: readonly RuleOutcome[], modes: RuleModes) =>
  rules.map(({ examples, ...rule }) => ({
    ...rule,
    mode: modeText(modes[rule.rule]),
    examples: examples.map((path) => printable(path)),
  }));

function planLines(
  plan: RepairedOutcome,
  made: BundleIndex,
  old: BundleIndex,
  modes: RuleModes,
): readonly Block[] {
  return [
    `Digest:  ${plan.digest}`,
    `Before:  ${plan.digest === old.digest ? 'the same' : old.digest}`,
    `Pages:   ${plan.pages}`,
    `Files:   ${made.files.length}`,
    `Size:    ${sizeWords(plan.sizeBytes)}`,
    ...ruleLines(plan, modes),
  ];
}

/** What each rule did, for a person. */
export function ruleLines(
  { rules, isChanged }: Pick<RepairedOutcome, 'rules' | 'isChanged'>,
  modes: RuleModes,
): readonly Block[] {
  const width = rules.reduce((most, { rule }) => Math.max(most, rule.length), 0);
  return [
    isChanged ? 'Rules:' : 'Rules:   no rule has anything to change',
    ...rules.map((rule) => {
      const [example] = rule.examples;
      const words = `${counted(rule.files, 'file')}${example === undefined ? '' : `, such as ${printable(example, 80)}`}`;
      return `  ${rule.rule.padEnd(width)}  ${modes[rule.rule].word === 'off' ? 'off' : words}`;
    }),
  ];
}

export const keptLines = (rules: readonly RuleOutcome[]): readonly Block[] =>
  keptFindings(rules).map(({ lines }) =>
    prose([marked('Warning', 'unsure'), `: ${lines.join('. ')}`], '', '  '),
  );

/** Of `canonical=keep`: what is to be decided by a person. */
export function keptFindings(rules: readonly RuleOutcome[]): readonly Finding[] {
  return rules
    .filter(({ kept }) => kept > 0)
    .map(({ rule, kept, examples: [example = ''] }) => ({
      level: 'warning',
      code: 'DefectKept',
      lines: [
        `${counted(kept, 'page')} with a canonical or OpenGraph address without its host: ${printable(example, 80)}`,
        `Add --rule ${rule}=set=HOST with the host of the site, or --rule ${rule}=strip`,
      ],
    }));
}
