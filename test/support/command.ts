// One command run to its end: what it wrote and how it ended, as data.
// Refuses nothing: a failing command is an answer here, and the caller decides what it means.

import { execFile } from 'node:child_process';
import { basename } from 'node:path';
import { requirePublishedDocument } from './published-document.ts';
import { seeText } from './secret-watch.ts';

export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandOptions {
  /** Written to its standard input. */
  readonly input?: string;
  /** Added to the environment of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** Killed after this, which counts as failed. Ten minutes when absent: no command of a test hangs for ever. */
  readonly timeoutMs?: number;
}

const defaultTimeoutMs = 600_000;

/**
 * @param command the program, then its arguments
 * @throws Error where it printed a document of the command line that its published schema does not admit
 */
export function runCommand(command: readonly string[], options: CommandOptions = {}): Promise<CommandResult> {
  const [file = '', ...args] = command;
  return new Promise((resolve, reject) => {
    // Node's test runner asks for colours in what it starts on a terminal.
    const env = { ...process.env, FORCE_COLOR: '0', ...options.env };
    const timeout = options.timeoutMs ?? defaultTimeoutMs;
    // Not SIGTERM: who is stuck may be stuck in the handler of that.
    const limits = { maxBuffer: 64 * 1024 * 1024, timeout, killSignal: 'SIGKILL' } as const;
    const child = execFile(file, args, { env, ...limits }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
      const why = error?.killed === true ? `killed, after ${timeout} ms at most\n` : '';
      const result = {
        code,
        stdout,
        stderr: why + (stderr === '' && error !== null ? error.message : stderr),
      };
      // Standard output may be for the owner of a link alone, as that of `static-export link`.
      if (basename(file).startsWith('static-export'))
        seeText(`the messages of ${args.slice(0, 2).join(' ')}`, stderr);
      requirePublishedDocument(stdout).then(() => resolve(result), reject);
    });
    // A command that ends without reading its input is not this process's failure.
    child.stdin?.on('error', () => {});
    child.stdin?.end(options.input ?? '');
  });
}

/**
 * Runs and gives what it wrote to standard output.
 * @throws Error with the command and what it wrote to standard error
 */
export async function mustRun(command: readonly string[], options: CommandOptions = {}): Promise<string> {
  const { code, stdout, stderr } = await runCommand(command, options);
  if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}:\n${stderr.trimEnd()}`);
  return stdout;
}
