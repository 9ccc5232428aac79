// `export --repair`: what was downloaded, repaired before gates judge it and destinations get it. Owns the pack of the repaired content
// in the work folder. Refuses to read pages on the main thread. Invariant: the digest that is compared, recorded and written is that
// of the repaired content.

import { mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { BundleIndex } from '#bundle/bundle-index.ts';
import { requireRepairedSize } from '#bundle/repair/repair.ts';
import { type RuleChoice, type RuleModes, ruleModes } from '#bundle/repair/rule-modes.ts';
import { removeQuietly } from '#bundle/store/store-disk.ts';
import { bundleFolder, packName } from '#bundle/store/store-layout.ts';
import { type RepairedOutcome, remakeInThread } from '#site/remake/remaking.ts';
import { commandLimitsOf, type SizeLimits } from '../bundle/reading.ts';
import { keptFindings, keptLines, ruleFields, ruleLines } from '../bundle/repair.ts';
import type { CliContext, Finding } from '../context.ts';
import { counted } from '../output/amounts.ts';
import type { Block } from '../output/screen.ts';

export interface RepairedDownloads {
  /** As `KeptDownloadOptions.remake`. */
  remake(index: BundleIndex, workDir: string, signal: AbortSignal): Promise<BundleIndex>;
  /** Of the last archive. */
  report(): RepairReport;
}

export interface RepairReport {
  readonly fields: { readonly rules: ReturnType<typeof ruleFields> };
  readonly lines: readonly Block[];
  readonly findings: readonly Finding[];
}

interface RepairFlags extends SizeLimits {
  readonly repair: boolean;
  readonly rule: readonly RuleChoice[];
}

/** @returns `undefined` without --repair */
export function repairDownloads(values: RepairFlags, context: CliContext): RepairedDownloads | undefined {
  const { repair, rule } = values;
  if (!repair) return undefined;
  const limits = commandLimitsOf(values);
  const modes = ruleModes(rule);
  let last: RepairedOutcome | undefined;
  return {
    remake: async (index, workDir, signal) => {
      const { outcome, index: made } = await repairPack(index, workDir, modes, context, signal);
      requireRepairedSize(made, limits);
      last = outcome;
      return made;
    },
    report: () => {
      if (last === undefined) throw new TypeError('a version is published after its repair');
      const { rules } = last;
      return {
        fields: { rules: ruleFields(rules, modes) },
        lines: [...ruleLines(last, modes), ...keptLines(rules)],
        findings: keptFindings(rules),
      };
    },
  };
}

async function repairPack(
  index: BundleIndex,
  workDir: string,
  modes: RuleModes,
  { siteWorker, progress }: CliContext,
  signal: AbortSignal,
) {
  progress.phase('Repairing the site');
  const downloaded = bundleFolder(workDir, index.digest);
  const toPath = join(workDir, 'repaired');
  const task = { packPath: join(downloaded, packName), index, modes, toPath };
  const remade = await remakeInThread(
    siteWorker,
    { task: 'repair-site', ...task },
    { signal, onProgress: ({ files, of }) => progress.advance((100 * files) / of, counted(files, 'file')) },
  );
  await removeQuietly(downloaded);
  const folder = bundleFolder(workDir, remade.index.digest);
  await mkdir(folder, { recursive: true });
  await rename(toPath, join(folder, packName));
  progress.end();
  return remade;
}
