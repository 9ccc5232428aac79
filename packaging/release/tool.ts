// Commands of a release, run to their end. Owns the environment in which they run: no setting of the machine that changes
// bytes. A failing command is an error with its last lines.

import { execFile } from 'node:child_process';
import { delimiter, dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** What npm and Node's test runner set for their children, what changes how Node runs, and logins: nothing is pulled. */
const ownVariables =
  /^(?:npm_(?!config_)|npm_config_local_prefix$|NODE_OPTIONS$|NODE_TEST_CONTEXT$|NODE_COMPILE_CACHE$|OUT$|DOCKER_CONFIG$|REGISTRY_(?:AUTH_FILE|USERNAME|PASSWORD)$)/;

/** @param seconds since 1970, of the commit */
export function releaseEnvironment(
  from: Readonly<Record<string, string | undefined>>,
  seconds: number,
): Readonly<Record<string, string>> {
  const kept = Object.entries(from).flatMap(([name, value]) =>
    value === undefined || ownVariables.test(name) ? [] : [[name, value] as const],
  );
  const PATH = [dirname(process.execPath), from['PATH'] ?? ''].join(delimiter);
  return {
    ...Object.fromEntries(kept),
    ...{
      PATH,
      TZ: 'UTC',
      LC_ALL: 'C',
      SOURCE_DATE_EPOCH: `${seconds}`,
      npm_config_update_notifier: 'false',
      NODE_USE_ENV_PROXY: '1',
    },
  };
}

export interface ToolPlace {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** A line of standard error that starts with it says which step begins. */
export const progressMark = '· ';

/**
 * @param onStep gets the steps that the command names
 * @returns what it wrote to standard output
 * @throws Error with what it wrote to standard error
 */
export async function runTool(
  command: readonly string[],
  { cwd, env }: ToolPlace,
  onStep?: (step: string) => void,
): Promise<string> {
  const [file = '', ...args] = command;
  try {
    const running = run(file, args, { cwd, env, maxBuffer: 256 * 1024 * 1024 });
    if (onStep !== undefined && running.child.stderr !== null) {
      createInterface({ input: running.child.stderr }).on('line', (line) => {
        if (line.startsWith(progressMark)) onStep(line.slice(progressMark.length));
      });
    }
    return (await running).stdout;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      throw new Error(`${file} is not installed. Install it, and run again.`, { cause: error });
    }
    const { stderr } = error instanceof Error && 'stderr' in error ? error : { stderr: '' };
    const said = String(stderr).trimEnd().split('\n');
    const lines = said
      .filter((line) => !line.startsWith(progressMark))
      .slice(-20)
      .join('\n');
    throw new Error(`${file} ${args[0] ?? ''} failed:\n${lines}`, { cause: error });
  }
}

/** Runs a command of a person to its end: an error is its message on standard error, without a stack, and exit code 1. */
export async function endWithMessage(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}

/** @returns the first line of its version, or `undefined` where it is not installed */
export async function toolVersion(command: readonly string[], place: ToolPlace): Promise<string | undefined> {
  return runTool(command, place).then(
    (text) => text.split('\n')[0]?.trim() ?? '',
    () => undefined,
  );
}
