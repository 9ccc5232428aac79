// The commands that help a StaticExport in its present state, as a person would type them. Pure. Refuses: advice that the
// message of a condition gives already, such as what to do about a key.

import type { ExportSummary } from './summary.ts';

type Subject = Pick<ExportSummary, 'namespace' | 'name' | 'reason' | 'candidate' | 'pinned' | 'suspended'>;

/** @returns a line each: the command, and what it does */
export function nextSteps({
  namespace,
  name,
  reason,
  candidate,
  pinned,
  suspended,
}: Subject): readonly string[] {
  const step = (verb: string, effect: string): string =>
    `static-export ${verb} ${name} -n ${namespace}  # ${effect}`;
  return [
    ...(candidate === undefined
      ? []
      : [
          step('promote', `publishes ${candidate}`),
          step('reject', 'drops it; its content is not held again'),
        ]),
    ...(reason === 'Rejected' ? [step('request', 'exports again')] : []),
    ...(pinned === undefined ? [] : [step('unpin', 'ends the pin; exports go on')]),
    ...(suspended ? [step('resume', 'ends the pause')] : []),
    ...(reason === 'NotObserved' || reason === '' ? [step('doctor', 'says why no operator manages it')] : []),
  ];
}
