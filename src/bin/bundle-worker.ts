// Composition root of the thread that prepares bundles, or checks one that is stored. Started by
// bundle/preparation.ts or bundle/checking.ts with an order as `workerData`; answers over its port. Reads nothing of the environment but the usual proxy variables.

import process from 'node:process';
import { parentPort, workerData } from 'node:worker_threads';
import { readCheckOrder } from '../bundle/check-message.ts';
import { runCheck } from '../bundle/check-run.ts';
import { parseOrder } from '../bundle/preparation-message.ts';
import { runPreparation } from '../bundle/preparation-run.ts';
import { systemClock } from '../runtime/clock.ts';

const { env } = process;
const check = readCheckOrder(workerData);

if (check !== undefined && parentPort !== null) await runCheck(check, parentPort);
else {
  await runPreparation(parseOrder(workerData), {
    clock: systemClock,
    proxy: {
      httpProxy: env['http_proxy'] ?? env['HTTP_PROXY'],
      httpsProxy: env['https_proxy'] ?? env['HTTPS_PROXY'],
      noProxy: env['no_proxy'] ?? env['NO_PROXY'],
    },
    report: (report) => parentPort?.postMessage(report),
  });
}
