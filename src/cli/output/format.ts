// The result or the failure of a command as text: lines for a person, JSON or YAML for a program. Invariant: standard
// output holds one document or nothing.

import { jsonText } from '../../wire/json-text.ts';
import type { Failure } from '../cli-error.ts';
import type { CommandResult } from '../context.ts';
import type { OutputFormat } from '../output-format.ts';
import { painted, paintLines } from './paint.ts';
import { withoutWorkflowCommand } from './workflow-text.ts';

/** Of every document that a command prints. */
export const outputApiVersion = 'cli.staticexport.dev/v1alpha1';

/**
 * @param isColoured whether standard output gets colours
 * @returns the text for standard output
 */
export async function formatResult(
  result: CommandResult,
  format: OutputFormat,
  isColoured = false,
): Promise<string> {
  if (format === 'text' && result.script !== undefined) return result.script;
  if (format !== 'json' && format !== 'yaml') {
    const lines = { text: result.lines, wide: result.wide ?? result.lines, name: result.names ?? [] }[format];
    const safe = lines.map(withoutWorkflowCommand);
    const shown = isColoured && format !== 'name' ? paintLines(result.kind, safe) : safe;
    return shown.map((line) => `${line}\n`).join('');
  }
  return formatDocument({ apiVersion: outputApiVersion, kind: result.kind, ...result.fields }, format);
}

/**
 * @param isColoured whether standard error gets colours
 * @returns the text for standard output, and for standard error
 */
export async function formatFailure(
  command: string,
  { code, message, retryable, next, version, written, lastFailure }: Failure,
  format: OutputFormat,
  isColoured = false,
): Promise<{ readonly stdout: string; readonly stderr: string }> {
  const beginning = isColoured ? painted(`${command}:`, 'bad') : `${command}:`;
  const lines = [
    `${message} (${code})`,
    ...(version === undefined ? [] : [`  Version: ${version}`]),
    ...(written === undefined || written.length === 0 ? [] : [`  Written: ${written.join(', ')}`]),
    ...next.map((step) => `  ${step}`),
  ];
  const stderr = `${beginning} ${lines.map((line) => `${withoutWorkflowCommand(line)}\n`).join('')}`;
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
