// Composition root of the thread that prepares bundles, checks one that is stored, or copies one from a peer. Started
// by src/bundle (preparation.ts, checking.ts, copying.ts) with an order as `workerData`; answers over its port. Each
// task loads only what it needs: a check must not wait for a client of HTTP. Reads nothing of the environment but
// the usual proxy variables.

import process from 'node:process';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { ProxySettings } from '../bundle/fetch/link-agent.ts';
import { readCopyOrder } from '../bundle/peer/copy-order.ts';
import { parseOrder } from '../bundle/prepare/preparation-message.ts';
import { readCheckOrder } from '../bundle/store/check-order.ts';
import { answerSlices } from '../bundle/thread/thread-answer.ts';
import type { ThreadReport } from '../bundle/thread/thread-message.ts';
import { systemClock } from '../runtime/clock.ts';

if (parentPort !== null) await work(parentPort);

async function work(port: MessagePort): Promise<void> {
  const edge = { clock: systemClock, report: (report: ThreadReport): void => port.postMessage(report) };
  const check = readCheckOrder(workerData);
  const copy = readCopyOrder(workerData);
  if (check !== undefined) {
    const { runCheck } = await import('../bundle/store/check-run.ts');
    await runCheck(check, port);
  } else if (copy !== undefined) {
    const { runCopy } = await import('../bundle/peer/copy-run.ts');
    const index = await runCopy(copy, edge);
    if (index !== undefined) answerSlices(index.files, port);
  } else {
    const { runPreparation } = await import('../bundle/prepare/preparation-run.ts');
    const index = await runPreparation(parseOrder(workerData), { ...edge, proxy: proxyOf(process.env) });
    if (index !== undefined) answerSlices(index.files, port);
  }
}

function proxyOf(env: NodeJS.ProcessEnv): ProxySettings {
  return {
    httpProxy: env['http_proxy'] ?? env['HTTP_PROXY'],
    httpsProxy: env['https_proxy'] ?? env['HTTPS_PROXY'],
    noProxy: env['no_proxy'] ?? env['NO_PROXY'],
  };
}
