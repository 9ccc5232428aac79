// Clears away after a runner that could not: a shell that waits for the end of our end of a pipe. However this
// process goes, kill -9 included, what it registered is then killed or removed. Nothing registered, nothing done.

import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Writable } from 'node:stream';

const script = `
pids= ; folders=
while read -r verb value; do
  case $verb in
    kill) pids="$pids $value" ;;
    spare) rest= ; for pid in $pids; do [ "$pid" = "$value" ] || rest="$rest $pid"; done; pids=$rest ;;
    remove) folders="$folders $value" ;;
  esac
done
[ -z "$pids" ] || kill -9 $pids 2>/dev/null
[ -z "$folders" ] || { sleep 1; rm -rf $folders; }
`;

let reaper: ChildProcessByStdio<Writable, null, null> | undefined;

function tell(line: string): void {
  if (process.platform === 'win32') return;
  if (reaper === undefined) {
    reaper = spawn('/bin/sh', ['-c', script], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
    reaper.on('error', () => {});
    reaper.stdin.on('error', () => {});
    // Neither the shell nor the pipe keeps the runner alive.
    reaper.unref();
    if ('unref' in reaper.stdin && typeof reaper.stdin.unref === 'function') reaper.stdin.unref();
  }
  reaper.stdin.write(`${line}\n`);
}

/** Kills the process when this one is gone. @returns to be called when it has ended by itself */
export function killAfterUs(pid: number | undefined): () => void {
  if (pid === undefined) return () => {};
  tell(`kill ${pid}`);
  return () => tell(`spare ${pid}`);
}

/** Removes the folder when this process is gone. The path must hold no blanks. */
export function removeAfterUs(folder: string): void {
  if (!/\s/.test(folder)) tell(`remove ${folder}`);
}
