// The result of one check: a stable code, a state, a sentence, and what to do. Codes are API: scripts branch on them.
// Owns how results are ordered, counted and shown to a person. Pure.

import type { Finding } from '../context.ts';
import { marked, type Paint } from '../output/paint.ts';
import { type Block, markedLine, prose, stepBlocks } from '../output/screen.ts';

export const checkStates = ['ok', 'warning', 'error', 'skipped'] as const;
export type CheckState = (typeof checkStates)[number];

/** Each has its row in README.md. */
export const checkCodes = [
  'NodeVersion',
  'ApiServer',
  'ApiServerVersion',
  'CrdInstalled',
  'CrdSchema',
  'Operator',
  'OperatorLease',
  'OperatorOverlap',
  'VersionSkew',
  'Permissions',
  'InstallPermissions',
  'InstallConflict',
  'StaticExport',
  'Ready',
  'Managed',
  'KeySecret',
  'LinkAge',
  'Mirror',
  'OutputSecret',
  'TargetConsent',
  'GitTarget',
  'Server',
] as const;
export type CheckCode = (typeof checkCodes)[number];

export interface Check {
  readonly code: CheckCode;
  readonly state: CheckState;
  /** What is checked, such as `StaticExport docs/docs`; absent for the cluster as a whole. */
  readonly subject?: string;
  readonly message: string;
  /** What to do, unless there is nothing to do. A command stands last, without a full stop, so that it can be copied. */
  readonly remedy?: string;
  /** The command at the end of the remedy. */
  readonly command?: string;
}

export const passed = (code: CheckCode, message: string): Check => ({ code, state: 'ok', message });
export const skipped = (code: CheckCode, message: string): Check => ({ code, state: 'skipped', message });

/** What to do: a sentence, or the words before a command and the command. */
export type Remedy = string | readonly [words: string, command: string];

const adviceOf = (remedy: Remedy): Pick<Check, 'remedy' | 'command'> =>
  typeof remedy === 'string' ? { remedy } : { remedy: remedy.join(' '), command: remedy[1] };

export const warned = (code: CheckCode, message: string, remedy: Remedy): Check => ({
  code,
  state: 'warning',
  message,
  ...adviceOf(remedy),
});
export const failedCheck = (code: CheckCode, message: string, remedy: Remedy): Check => ({
  code,
  state: 'error',
  message,
  ...adviceOf(remedy),
});

/** The same checks, about one object. */
export function about(subject: string, checks: readonly Check[]): readonly Check[] {
  return checks.map((check) => ({ subject, ...check }));
}

export function countStates(checks: readonly Check[]): Readonly<Record<CheckState, number>> {
  const of = (state: CheckState): number => checks.filter((check) => check.state === state).length;
  return { ok: of('ok'), warning: of('warning'), error: of('error'), skipped: of('skipped') };
}

/** The errors and warnings, for a pipeline. */
export function findingsOfChecks(checks: readonly Check[]): readonly Finding[] {
  return checks.flatMap(({ code, state, subject, message, remedy }) => {
    if (state !== 'error' && state !== 'warning') return [];
    const first = subject === undefined ? message : `${subject}: ${message}`;
    return [{ level: state, code, lines: remedy === undefined ? [first] : [first, remedy] }];
  });
}

const indent = ' '.repeat(10);
const paints: Readonly<Record<CheckState, Paint>> = {
  ok: 'good',
  warning: 'unsure',
  error: 'bad',
  skipped: 'quiet',
};

/** For a person: by subject, each with its state first, the remedy on lines of its own. */
export function checkBlocks(checks: readonly Check[]): readonly Block[] {
  const subjects = [...new Set(checks.map(({ subject }) => subject))];
  const parts = subjects.map((subject) => [
    markedLine(marked(subject ?? 'Cluster', 'strong')),
    ...checks
      .filter((check) => check.subject === subject)
      .flatMap((check, at, all) => linesOfCheck(check, all[at + 1]?.remedy !== check.remedy)),
  ]);
  const counts = countStates(checks);
  const summary = [
    countOf(counts.error, 'error', 'errors'),
    countOf(counts.warning, 'warning', 'warnings'),
    `${counts.ok} ok`,
    countOf(counts.skipped, 'skipped', 'skipped'),
  ];
  return [
    ...parts.flatMap((lines) => [...lines, '']),
    `${summary.filter((text) => text !== '').join(', ')}.`,
  ];
}

function countOf(count: number, one: string, many: string): string {
  return count === 0 ? '' : `${count} ${count === 1 ? one : many}`;
}

/** @param isLast of those that have the same remedy, one after the other */
function linesOfCheck({ code, state, message, remedy, command }: Check, isLast: boolean): readonly Block[] {
  const space = ' '.repeat(indent.length - 2 - state.length);
  const verdict = prose([marked(state, paints[state]), `${space}${code}: ${message}`], '  ', indent);
  if (remedy === undefined || !isLast) return [verdict];
  if (command === undefined) return [verdict, prose(`→ ${remedy}`, indent)];
  const words = remedy.slice(0, -command.length).trim();
  return [verdict, prose(`→ ${words}`, indent), ...stepBlocks([command], `${indent}  `)];
}
