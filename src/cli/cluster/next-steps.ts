// The commands that help a StaticExport in its present state, as a person would type them. Pure. Refuses: advice that the
// message of a condition gives already, such as what to do about a key.

import { annotations } from '#operator/staticexport/names.ts';
import type { ExportSummary } from './summary.ts';

type Subject = Pick<ExportSummary, 'namespace' | 'name' | 'reason' | 'candidate' | 'pinned' | 'suspended'>;

/** @returns a line: the command, and what it does */
export function stepOf(
  { namespace, name }: Pick<ExportSummary, 'namespace' | 'name'>,
  verb: string,
  effect: string,
): string {
  return `static-export ${verb} ${name} -n ${namespace}  # ${effect}`;
}

const advises = (annotation: string, messages: readonly string[]): boolean =>
  messages.some((text) => text.includes(annotation));

/**
 * @param messages of the conditions: a command stands for each annotation that they advise
 * @returns a line each: the command, and what it does
 */
export function nextSteps(
  { namespace, name, reason, candidate, pinned, suspended }: Subject,
  messages: readonly string[] = [],
): readonly string[] {
  const step = (verb: string, effect: string): string => stepOf({ namespace, name }, verb, effect);
  return [
    ...(candidate === undefined
      ? advises(annotations.promote, messages)
        ? [step('promote', 'publishes the candidate')]
        : []
      : [
          step('promote', `publishes ${candidate}`),
          step('reject', 'drops it; its content is not held again'),
        ]),
    ...(reason === 'Rejected' || advises(annotations.requestedAt, messages)
      ? [step('request', 'exports again')]
      : []),
    ...(pinned === undefined ? [] : [step('unpin', 'ends the pin; exports go on')]),
    ...(suspended ? [step('resume', 'ends the pause')] : []),
    ...(reason === 'NotObserved' || reason === '' ? [step('doctor', 'says why no operator manages it')] : []),
  ];
}
