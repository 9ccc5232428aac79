// A program on a pseudo-terminal: keys go in, and what it shows comes out. For what programs do only on a terminal. Needs
// util-linux's `script`.

import { type ChildProcess, spawn } from 'node:child_process';
import { eventually } from './eventually.ts';

export interface Terminal {
  /** Sends keys as they are: `\t` is the tab key, `\r` the return key. */
  type(keys: string): void;
  /** What was shown since the start. */
  shown(): string;
  /** Waits until what was shown after the last `type` matches. */
  awaitText(pattern: RegExp): Promise<string>;
  close(): void;
}

/** @param command a line for `sh` */
export function openTerminal(
  command: string,
  options: { readonly cwd: string; readonly env: Readonly<Record<string, string | undefined>> },
): Terminal {
  const env = { ...options.env, TERM: 'dumb', COLUMNS: '200', LINES: '50' };
  const child: ChildProcess = spawn('script', ['--quiet', '--flush', '--command', command, '/dev/null'], {
    cwd: options.cwd,
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let text = '';
  let typedAt = 0;
  child.stdout?.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
  });
  child.stdin?.on('error', () => {});
  return {
    type: (keys) => {
      typedAt = text.length;
      child.stdin?.write(keys);
    },
    shown: () => text,
    awaitText: (pattern) =>
      eventually(`the terminal shows ${pattern}`, async () => pattern.exec(text.slice(typedAt))?.[0]),
    close: () => {
      child.kill('SIGKILL');
    },
  };
}
