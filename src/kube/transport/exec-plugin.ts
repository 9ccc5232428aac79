// The processes of credentials plugins, which client-node starts and gives no handle of: Node tells of each one as it
// starts. Refuses: a plugin that hangs for as long as the operator runs, and one more for each time it is asked again.
// Invariant: only what was started in the first turn of the work is ended, so nobody else's process ever is.

import { ChildProcess } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';

const spawned = 'child_process';

/**
 * @param start starts its processes before it first waits
 * @returns what the work returns or throws, which it does once its processes are gone
 */
export async function endPluginsOn<T>(signal: AbortSignal, start: () => Promise<T>): Promise<T> {
  const plugins: ChildProcess[] = [];
  const note = (message: unknown): void => {
    if (isSpawned(message)) plugins.push(message.process);
  };
  subscribe(spawned, note);
  let work: Promise<T>;
  try {
    work = start();
  } finally {
    unsubscribe(spawned, note);
  }
  const end = (): void => {
    for (const plugin of plugins) endPlugin(plugin);
  };
  signal.addEventListener('abort', end, { once: true });
  try {
    return await work;
  } finally {
    signal.removeEventListener('abort', end);
  }
}

function endPlugin(plugin: ChildProcess): void {
  plugin.kill('SIGKILL');
  // What the plugin itself started may hold the other ends open.
  plugin.stdout?.destroy();
  plugin.stderr?.destroy();
}

function isSpawned(message: unknown): message is { readonly process: ChildProcess } {
  return (
    typeof message === 'object' &&
    message !== null &&
    'process' in message &&
    message.process instanceof ChildProcess
  );
}
