// What a program of ours keeps: the bytes on its heap that are still in use, after a collection was asked for through its
// inspector. Resident memory says how much was ever needed at once; only this says whether something is kept for ever.

import { z } from 'zod';
import { connectDevtools } from './devtools.ts';

export interface LiveHeap {
  /** Objects and the buffers they hold, after garbage was collected. */
  liveBytes(): Promise<number>;
  close(): void;
}

const targets = z.array(z.object({ webSocketDebuggerUrl: z.string() })).min(1);
const usage = z.object({ usedSize: z.number(), backingStorageSize: z.number().optional() });

/** @param port of a program that was started with `--inspect=127.0.0.1:PORT` */
export async function inspectHeap(port: number): Promise<LiveHeap> {
  const list = targets.parse(await (await fetch(`http://127.0.0.1:${port}/json/list`)).json());
  const inspector = await connectDevtools(list[0]?.webSocketDebuggerUrl ?? '');
  return {
    liveBytes: async () => {
      // The first one lets go of what has finalizers, the second of what only they still held.
      for (const _ of [1, 2]) await inspector.call('HeapProfiler.collectGarbage', {});
      const read = usage.parse(await inspector.call('Runtime.getHeapUsage', {}));
      return read.usedSize + (read.backingStorageSize ?? 0);
    },
    close: () => inspector.close(),
  };
}
