// Composition root of the thread that crawls and packs one site. Started by src/export-service (export-thread.ts) with
// an order as `workerData`; reports over its port. Reads nothing of the environment.

import { parentPort, workerData } from 'node:worker_threads';
import { crawlSite } from '../export-service/crawler/crawl.ts';
import { packSite } from '../export-service/crawler/pack.ts';
import { runExportOrder } from '../export-service/export-work.ts';
import { exportWith } from '../export-service/site-export.ts';
import { systemClock } from '../runtime/clock.ts';

if (parentPort !== null) {
  await runExportOrder(workerData, parentPort, exportWith(crawlSite, packSite), systemClock);
}
