// The commands that help a StaticExport in its present state, as a person would type them. Pure. Refuses: advice that the
// message of a condition gives already, such as what to do about a key.

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

/** The advice in messages of conditions, which also kubectl shows, and the verb that does the same. */
const annotationAdvice: readonly (readonly [verb: string, advice: RegExp, instead: string])[] = [
  ['promote', / ?To publish it, set the annotation \S+\/promote=\S+\.(?= |$)/, ''],
  ['request', / ?To start it now, set the annotation \S+\/requestedAt=<new token>\.(?= |$)/, ''],
  ['request', /, then set the annotation \S+\/requestedAt to a new token\./, ', then request an export.'],
];

/** @returns the message for a person, without the advice to write an annotation where `next` has the command */
export function withoutAnnotationAdvice(message: string, next: readonly string[]): string {
  return annotationAdvice
    .filter(([verb]) => next.some((step) => step.startsWith(`static-export ${verb} `)))
    .reduce((text, [, advice, instead]) => text.replace(advice, instead), message);
}

const advises = (verb: string, messages: readonly string[]): boolean =>
  annotationAdvice.some(([one, advice]) => one === verb && messages.some((text) => advice.test(text)));

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
      ? advises('promote', messages)
        ? [step('promote', 'publishes the candidate')]
        : []
      : [
          step('promote', `publishes ${candidate}`),
          step('reject', 'drops it; its content is not held again'),
        ]),
    ...(reason === 'Rejected' || advises('request', messages) ? [step('request', 'exports again')] : []),
    ...(pinned === undefined ? [] : [step('unpin', 'ends the pin; exports go on')]),
    ...(suspended ? [step('resume', 'ends the pause')] : []),
    ...(reason === 'NotObserved' || reason === '' ? [step('doctor', 'says why no operator manages it')] : []),
  ];
}
