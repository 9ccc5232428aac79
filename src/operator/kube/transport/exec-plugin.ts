// The processes of credentials plugins. client-node starts them without returning a handle, but Node reports each start.
// Refuses: a plugin that hangs as long as the operator runs, and another one for each retry.
// Invariant: only processes that the work starts synchronously are ended, and so no other process is.

import { ChildProcess } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';

const spawned = 'child_process';

/**
 * @param start starts its processes before it first waits
 * @returns the result of the work, once its processes have ended
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
