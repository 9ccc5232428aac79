// What GitLab CI reads: sections of the log that fold and show their time, and the dotenv report of variables for later
// jobs. Pure. Refuses: a value that such a report cannot hold.

import { type OutputName, type Outputs, outputNames } from './pipeline.ts';

/** @param now epoch ms */
export function sectionStart(id: string, header: string, now: number): string {
  return `section_start:${Math.floor(now / 1000)}:${id}\r\u001b[0K${header}`;
}

/** @param now epoch ms */
export function sectionEnd(id: string, now: number): string {
  return `section_end:${Math.floor(now / 1000)}:${id}\r\u001b[0K`;
}

/** `PATH` itself would take the commands from later jobs, and `STATIC_EXPORT_` is of this program's own variables. */
export const dotenvName = (name: OutputName): string =>
  `EXPORT_${name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;

/** The report knows no quotes, no escapes, no blanks at the ends, and no characters beyond one line. */
const dotenvValue = /^[A-Za-z0-9._/:@%+,=-]+$/;

/** @returns the text, and the names that are left out because of their value */
export function dotenvText(outputs: Outputs): { readonly text: string; readonly leftOut: readonly string[] } {
  const named = outputNames.flatMap((name) => {
    const value = outputs.get(name);
    return value === undefined ? [] : [[dotenvName(name), value] as const];
  });
  return {
    text: named
      .filter(([, value]) => dotenvValue.test(value))
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
    leftOut: named.filter(([, value]) => !dotenvValue.test(value)).map(([name]) => name),
  };
}

/** @returns whether a run wrote it: every report has the exit code as its last line */
export const isDotenvText = (text: string): boolean =>
  /^(?:EXPORT_[A-Z_]+=[!-~]+\n)*EXPORT_EXIT_CODE=\d+\n$/.test(text);
