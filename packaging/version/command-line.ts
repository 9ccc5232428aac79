// The command lines of a release: flags, help and failures of `release:prepare` and `check:version`. Refuses unknown flags.
// Invariant: a failure that the user can change is one line on standard error, without a stack.

import { type ParseArgsConfig, parseArgs } from 'node:util';

/** A sentence for the user, with the exit code of the program. */
export class CommandRefusal extends Error {
  readonly exitCode: number;

  constructor(reason: string, exitCode: number, options?: ErrorOptions) {
    super(reason, options);
    this.exitCode = exitCode;
  }
}

/** @param name of the script in package.json */
export const seeHelp = (name: string): string => `run "npm run ${name} -- --help"`;

/** @throws CommandRefusal with 2 of a flag that does not exist or lacks its value */
export function readCommandLine<const T extends ParseArgsConfig>(
  name: string,
  config: T,
): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config);
  } catch (cause) {
    // Node adds how a value may begin with a dash.
    const [what = ''] = (cause instanceof Error ? cause.message : String(cause)).split(/\.\s/);
    throw new CommandRefusal(`${what}; ${seeHelp(name)}`, 2, { cause });
  }
}

/** Runs to the end, with a refusal as one line. */
export async function runCommandLine(name: string, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (!(error instanceof CommandRefusal)) throw error;
    process.stderr.write(`${name}: ${error.message}\n`);
    process.exitCode = error.exitCode;
  }
}
