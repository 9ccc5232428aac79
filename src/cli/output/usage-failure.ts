// A command line that no command reads, as a failure: for `-o json` it is a document like every other failure. Pure.
// Refuses: repeating an argument, which may be a key or a link.

import type { CommandFailure } from '../cli-error.ts';
import { documentFormats, type OutputFormat } from '../output-format.ts';

/**
 * @param command what could not be read, with the program's name
 * @param isGroup the command is missing or wrong
 */
export function usageFailure(command: string, reason: string, isGroup = false): CommandFailure {
  const next = [
    `${command} --help  # ${isGroup ? 'lists its commands' : 'explains its flags and arguments'}`,
  ];
  return { outcome: 'usage', code: 'WrongUsage', message: reason, retryable: false, next, known: {} };
}

/**
 * The format that a command line asks for, although something else in it is wrong.
 *
 * @param variable value of the variable of `--output`
 */
export function askedFormat(args: readonly string[], variable: string | undefined): OutputFormat {
  const asked = args.flatMap((arg, at) => {
    const [isOutput, value] = /^(?:--output|-[A-Za-z]*?o)=?(.*)$/.exec(arg) ?? [];
    return isOutput === undefined ? [] : [value || args[at + 1]];
  });
  const formatOf = (text: string | undefined) => documentFormats.find((format) => format === text);
  return asked.map(formatOf).findLast((format) => format !== undefined) ?? formatOf(variable) ?? 'text';
}
