// The result of one check: a stable code, a state, a sentence, and what to do. Codes are API: scripts branch on them.
// Owns how results are ordered, counted and shown to a person. Pure.

import type { Finding } from '../context.ts';
import { wrapText } from '../output/tree-lines.ts';

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
}

export const passed = (code: CheckCode, message: string): Check => ({ code, state: 'ok', message });
export const skipped = (code: CheckCode, message: string): Check => ({ code, state: 'skipped', message });
export const warned = (code: CheckCode, message: string, remedy: string): Check => ({
  code,
  state: 'warning',
  message,
  remedy,
});
export const failed = (code: CheckCode, message: string, remedy: string): Check => ({
  code,
  state: 'error',
  message,
  remedy,
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

const width = 80;
const indent = ' '.repeat(10);

/** For a person: by subject, each with its state first, the remedy on lines of its own. */
export function linesOf(checks: readonly Check[]): readonly string[] {
  const subjects = [...new Set(checks.map(({ subject }) => subject))];
  const parts = subjects.map((subject) => [
    subject ?? 'Cluster',
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
function linesOfCheck({ code, state, message, remedy }: Check, isLast: boolean): readonly string[] {
  const [first = '', ...more] = wrapText(`${code}: ${message}`, width - indent.length);
  const advice = remedy === undefined || !isLast ? [] : wrapText(`→ ${remedy}`, width - indent.length);
  return [
    `${`  ${state}`.padEnd(indent.length)}${first}`,
    ...[...more, ...advice].map((line) => indent + line),
  ];
}
