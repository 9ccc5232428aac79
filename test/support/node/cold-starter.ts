// The program behind cold-start.ts: lives in the cluster's network, runs a command that starts a container, and asks an
// address every few milliseconds meanwhile. Writes how long it took until the first 200.
//   node cold-starter.ts '{"run":["ctr","run"],"url":"http://127.0.0.1:8080/"}'

import { execFile } from 'node:child_process';
import { Agent, get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';

const order = z
  .object({ run: z.array(z.string()), url: z.string() })
  .parse(JSON.parse(process.argv[2] ?? '{}'));
const agent = new Agent({ keepAlive: false });

function ask(): Promise<string> {
  return new Promise((resolve) => {
    get(order.url, { agent, signal: AbortSignal.timeout(1000) }, (response) => {
      response.resume();
      response.on('end', () => resolve(String(response.statusCode)));
    }).on('error', (error) => resolve(error.message));
  });
}

let heard = await ask();
if (heard === '200') throw new Error(`${order.url} answers before anything was started`);
const [file = '', ...args] = order.run;
const start = performance.now();
execFile(file, args, (error) => {
  if (error === null) return;
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
});
while (heard !== '200') {
  if (performance.now() - start > 240_000) throw new Error(`not ready within four minutes: ${heard}`);
  await sleep(2);
  heard = await ask();
}
process.stdout.write(`${JSON.stringify({ readyMs: performance.now() - start })}\n`);
