// What a pipeline shows apart from its log, of a command that ran to its end with another answer than "done". Pure.
// Refuses: more findings than a pipeline shows, because GitHub drops the others without a word.

import type { CommandResult, Finding } from '../context.ts';
import { annotation } from './github-workflow.ts';
import type { Pipeline } from './pipeline.ts';
import { plainScreen, renderBlocks } from './screen.ts';
import { withoutWorkflowCommand } from './workflow-text.ts';

/** GitHub shows no more of one step. */
const mostFindings = 10;

/** Errors first. A command that names no findings has its last line as one. */
export function findingsOf({ outcome, kind, lines, findings }: CommandResult): readonly Finding[] {
  const isDone = outcome === 'done';
  const last = (): readonly string[] => renderBlocks(lines, plainScreen).slice(-1);
  const all = findings ?? (isDone ? [] : [{ level: 'error', code: kind, lines: last() } as const]);
  const errors = all.filter(({ level }) => level === 'error');
  return [...errors, ...all.filter(({ level }) => level === 'warning')].slice(0, mostFindings);
}

/** Lines for standard error; none where no pipeline reads them, because the result itself says the same. */
export function findingsText(command: string, findings: readonly Finding[], pipeline: Pipeline): string {
  if (pipeline === 'none') return '';
  return findings
    .map(({ level, code, lines: [first = '', ...rest] }) => {
      const message = `${first} (${code})`;
      if (pipeline === 'github') return `${annotation(level, command, [message, ...rest])}\n`;
      const lines = [`${command}: ${level}: ${message}`, ...rest.map((line) => `  ${line}`)];
      return lines.map((line) => `${withoutWorkflowCommand(line)}\n`).join('');
    })
    .join('');
}
