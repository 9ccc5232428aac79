// Composition root of the thread that codes a bundle's files. Started by site/variant-keeper.ts with an order as
// `workerData`; answers once over its port. Runs at a low priority, so that serving comes first.

import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../runtime/clock.ts';
import { compressorsOf, runVariantMaking } from '../site/variants/variant-making.ts';
import { parseVariantOrder } from '../site/variants/variant-message.ts';

// On Linux this is the calling thread alone: a tenth of the weight of the others, which still moves on where a node is
// busy. A system that will not have it codes at the usual priority.
try {
  setPriority(10);
} catch {}

await runVariantMaking(parseVariantOrder(workerData), {
  clock: systemClock,
  compressors: compressorsOf(process.versions),
  report: (report) => parentPort?.postMessage(report, report.type === 'done' ? [report.numbers.buffer] : []),
});
