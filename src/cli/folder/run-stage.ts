// What a run is doing now, from its status alone: the phase that progress names, and how far it is. Pure. A run that waits
// for its next schedule says so once; a line every 30 s for hours would hide the others.

import type { TargetReason } from '#operator/staticexport/reasons.ts';
import type { Status } from '#operator/staticexport/status-schema.ts';
import { counted } from '../output/amounts.ts';

export interface RunStage {
  readonly phase: string;
  /** Absent where nothing is under way. */
  readonly advance?: readonly [percent: number | undefined, detail: string];
}

export interface Beside {
  /** The command ends, so that a reader waits for it. */
  readonly once: boolean;
  /** A git target is read or pushed to, or waits for a copy that is being made. */
  readonly isPushing: boolean;
}

export function stageOf({ start, job, targets = [] }: Status, { once, isPushing }: Beside): RunStage {
  const isRunning = job !== undefined && job.verdict === undefined;
  if (isRunning && job.completionTime === undefined) {
    const pages = job.pageCount === undefined ? [] : [counted(job.pageCount, 'page')];
    return { phase: 'Exporting', advance: [job.progress, [job.state ?? 'started', ...pages].join(', ')] };
  }
  if (isRunning) return { phase: 'Inspecting', advance: [undefined, 'the exported archive'] };
  if (isPushing && targets.some(({ reason }) => reason === ('AwaitingCopy' satisfies TargetReason)))
    return { phase: 'Copying', advance: [undefined, 'the archive to the mirror'] };
  if (isPushing)
    return { phase: 'Writing to git', advance: [undefined, 'commits wait up to 10 s for others'] };
  const phase = 'Waiting';
  if (start !== undefined) return { phase, advance: [undefined, 'for the export API to confirm the start'] };
  return once ? { phase, advance: [undefined, 'for the next attempt'] } : { phase };
}
