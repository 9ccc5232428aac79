// A checked archive after its repair, as the files that are copied and what an inspection of them would say. Refuses a result that
// servers would reject, and one of another digest than was published. Invariant: the same archive and the same rules give the
// same digest, so that work that was killed is repeated.

import type { ArchivedFile } from '#bundle/archive/archive-writer.ts';
import { type ProgressContext, throttleProgress } from '#bundle/bundle-task.ts';
import type { BundleLimits } from '#bundle/limits.ts';
import { refusal } from '#bundle/refusal.ts';
import { planRepair, requireRepairedSize } from '#bundle/repair/repair.ts';
import type { StoredBundle } from '#bundle/store/stored-bundle.ts';
import type { Inspected, RepairTask } from './mirror-task.ts';

export interface RepairedContent {
  readonly inspected: Inspected;
  readonly files: readonly ArchivedFile[];
}

/** @throws {PublishableError} `DigestMismatch`, and a limit that the result exceeds; what reading the bundle throws */
export async function repairContent(
  bundle: StoredBundle,
  { modes, expectedDigest }: RepairTask,
  limits: BundleLimits,
  context: ProgressContext,
  signal: AbortSignal,
): Promise<RepairedContent> {
  const report = throttleProgress(context);
  const receivedBytes = bundle.index.sizeBytes;
  const plan = await planRepair(bundle, modes, signal, (files) => report({ receivedBytes, files }));
  if (expectedDigest !== undefined && plan.digest !== expectedDigest) throw refusal('DigestMismatch');
  requireRepairedSize(plan, limits);
  const { files, rules, digest, pages, sizeBytes, notes } = plan;
  const repaired = rules.map(({ rule, files: changed }) => ({ rule, files: changed }));
  return { files, inspected: { digest, pages, sizeBytes, notes, repaired } };
}
