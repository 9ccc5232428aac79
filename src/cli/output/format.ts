// The result or the failure of a command as text: lines for a person, JSON or YAML for a program. Invariant: standard
// output holds one document or nothing.

import { jsonText } from '#platform/wire/json-text.ts';
import type { CommandFailure } from '../cli-error.ts';
import type { CommandResult } from '../context.ts';
import type { OutputFormat } from '../output-format.ts';
import { marked, type Screen } from './paint.ts';
import { plainScreen, prose, renderBlocks, stepBlocks } from './screen.ts';
import { withoutWorkflowCommand } from './workflow-text.ts';

/** Of every document that a command prints. */
export const outputApiVersion = 'cli.staticexport.dev/v1alpha1';

/**
 * @param screen of standard output
 * @returns the text for standard output
 */
export async function formatResult(
  result: CommandResult,
  format: OutputFormat,
  screen: Screen = plainScreen,
): Promise<string> {
  const blocks = screen.isTerminal && result.screen !== undefined ? result.screen : result.lines;
  if (format === 'text' && result.script !== undefined && blocks !== result.screen) return result.script;
  if (format !== 'json' && format !== 'yaml') {
    const shown = { text: blocks, wide: result.wide ?? blocks, name: result.names ?? [] }[format];
    // All columns were asked for: a terminal loses none.
    const lines = renderBlocks(shown, format === 'wide' ? { ...screen, columns: Infinity } : screen);
    return lines.map((line) => `${withoutWorkflowCommand(line)}\n`).join('');
  }
  return formatDocument({ apiVersion: outputApiVersion, kind: result.kind, ...result.fields }, format);
}

/**
 * @param screen of standard error
 * @returns the text for standard output, and for standard error
 */
export async function formatFailure(
  command: string,
  { code, message, retryable, next, version, written, lastFailure }: CommandFailure,
  format: OutputFormat,
  screen: Screen = plainScreen,
): Promise<{ readonly stdout: string; readonly stderr: string }> {
  const blocks = [
    prose([marked(`${command}:`, 'bad'), ` ${withoutWorkflowCommand(message)} (${code})`], '', '  '),
    ...(version === undefined ? [] : [`  Version: ${version}`]),
    ...(written === undefined || written.length === 0 ? [] : [`  Written: ${written.join(', ')}`]),
    ...stepBlocks(next),
  ];
  const lines = renderBlocks(blocks, screen);
  const stderr = lines.map((line) => `${withoutWorkflowCommand(line)}\n`).join('');
  if (format !== 'json' && format !== 'yaml') return { stdout: '', stderr };
  const reached = {
    ...(version !== undefined && { version }),
    ...(written !== undefined && { written }),
    ...(lastFailure !== undefined && { lastFailure }),
  };
  const document = {
    apiVersion: outputApiVersion,
    kind: 'Error',
    code,
    message,
    retryable,
    next,
    ...reached,
  };
  return { stdout: await formatDocument(document, format), stderr };
}

async function formatDocument(document: object, format: 'json' | 'yaml'): Promise<string> {
  // `##` only occurs within texts, where the escape means the same character.
  if (format === 'json') return `${jsonText(document, 2).replaceAll('##', '#\\u0023')}\n`;
  return (await import('./yaml-text.ts')).yamlOf(document);
}
