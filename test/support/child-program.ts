// A program in a process of its own: started, watched, stopped. Owns the rule that a test never leaves a child
// behind: every child is killed when the runner exits, and dies with it where the system can arrange that.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import { basename } from 'node:path';
import { killAfterUs } from './reaper.ts';
import { seeText } from './secret-watch.ts';

export interface ChildProgram {
  readonly pid: number;
  /** The last lines it wrote, both streams, for a message when something fails. */
  readonly tail: () => string;
  readonly hasExited: () => boolean;
  /** Resolves with the exit code (`null` after a signal). */
  readonly exited: Promise<number | null>;
  /** Asks, waits, then kills. Resolves when it is gone. The grace is long: a kill would hide the exit code that a test checks. */
  stop(signal?: NodeJS.Signals, graceMs?: number): Promise<void>;
}

export interface ChildOptions {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Everything it writes goes here too. */
  readonly logFile?: string;
  readonly onLine?: (line: string) => void;
}

const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export function startProgram(file: string, options: ChildOptions): ChildProgram {
  const child = spawn(file, options.args, {
    env: { ...process.env, ...options.env, CONTROL_PLANE_DIES_WITH_PARENT: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A process group of its own: Ctrl-C in the terminal reaches the runner only, which stops children in order.
    detached: true,
  });
  running.add(child);
  const spare = killAfterUs(child.pid);
  const log = options.logFile === undefined ? undefined : createWriteStream(options.logFile, { flags: 'a' });
  const tail: string[] = [];
  // Of our own programs; an API server logs what it was asked.
  const program =
    file === process.execPath ? basename(options.args.find((one) => !one.startsWith('-')) ?? '') : '';
  const onLine = (line: string): void => {
    if (program !== '') seeText(`the log of ${program}`, line);
    options.onLine?.(line);
  };
  for (const stream of [child.stdout, child.stderr]) readLines(stream, tail, log, onLine);
  const exited = once(child, 'close').then(([code]: (number | null)[]) => {
    running.delete(child);
    spare();
    log?.end();
    return code ?? null;
  });
  exited.catch(() => {});
  return {
    pid: child.pid ?? -1,
    tail: () => tail.join('\n'),
    hasExited: () => child.exitCode !== null || child.signalCode !== null,
    exited,
    stop: async (signal = 'SIGTERM', graceMs = 25_000) => {
      if (!running.has(child)) return;
      child.kill(signal);
      const timer = setTimeout(() => child.kill('SIGKILL'), graceMs);
      await exited.catch(() => null);
      clearTimeout(timer);
    },
  };
}

function readLines(
  stream: NodeJS.ReadableStream,
  tail: string[],
  log: WriteStream | undefined,
  onLine: (line: string) => void,
): void {
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('data', (text: string) => {
    log?.write(text);
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      tail.push(line);
      onLine(line);
    }
    tail.splice(0, Math.max(0, tail.length - 40));
  });
}
