// `completion`: the script that a shell loads to complete commands. Scripts of zsh and fish come from the library. Owns
// that of bash: the library's offers no files and no value after `--flag=`, and evaluates what it offers.

import completion from '@bomb.sh/tab';
import { CliError } from '../cli-error.ts';
import { programName } from '../command.ts';
import type { ProgramAnswer } from '../program-documents.ts';
import { bashScript } from './bash-script.ts';
import { type Shell, shells } from './shells.ts';

export async function printScript(
  _values: unknown,
  [name]: readonly string[],
): Promise<ProgramAnswer<'CompletionScript'>> {
  const shell = shells.find((one) => one === name);
  if (shell === undefined) {
    throw new CliError('usage', 'UnknownShell', `SHELL must be one of ${shells.join(', ')}`);
  }
  const script =
    shell === 'bash'
      ? bashScript(programName)
      : corrections.reduce((text, [found, right]) => text.replace(found, () => right), libraryScript(shell));
  return { outcome: 'done', kind: 'CompletionScript', fields: { shell, script }, lines: [], script };
}

/** Of the library's script for zsh. */
const corrections: readonly (readonly [string, string])[] = [
  // A colon ends a candidate, and the script does not escape it: it lost a backslash.
  ['//:/\\:}', '//:/\\\\:}'],
  // What was typed before `=` is evaluated.
  ['-P ${BASH', '-P ${(q)BASH'],
];

/** The library can only print a script. */
function libraryScript(shell: Shell): string {
  const { log } = console;
  let script = '';
  console.log = (text: string) => {
    script += `${text}\n`;
  };
  try {
    completion.setup(programName, programName, shell);
  } finally {
    console.log = log;
  }
  return script;
}
