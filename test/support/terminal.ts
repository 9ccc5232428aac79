// A program on a pseudo-terminal: keys go in, and what it shows comes out. For what programs do only on a terminal. Needs
// util-linux's `script`.

import { type ChildProcess, spawn } from 'node:child_process';
import { eventually } from './eventually.ts';

export interface Terminal {
  /** Sends keys as they are: `\t` is the tab key, `\r` the return key. */
  type(keys: string): void;
  /** The same, as a part of what was typed last. */
  press(key: string): void;
  /** Waits until what was shown after the last `type` matches. */
  awaitText(pattern: RegExp, timeoutMs?: number): Promise<string>;
  close(): void;
}

/** @param command a line for `sh` */
export function openTerminal(
  command: string,
  options: { readonly cwd: string; readonly env: Readonly<Record<string, string | undefined>> },
): Terminal {
  const env = { ...options.env, TERM: 'dumb', PS1: '> ' };
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
    press: (key) => {
      child.stdin?.write(key);
    },
    awaitText: (pattern, timeoutMs = 30_000) =>
      eventually(`the terminal shows ${pattern}`, () => pattern.exec(text.slice(typedAt))?.[0], {
        timeoutMs,
      }),
    close: () => {
      child.kill('SIGKILL');
    },
  };
}
