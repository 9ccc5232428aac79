// The program behind visits.ts: asks a Service a steady number of times a second from inside the cluster's network,
// and writes what it has seen so far, one JSON line at a time. Ends when its standard output does, or on SIGTERM
// after the requests under way are answered.
//   node visitor.ts '{"urls":["http://10.96.0.9/"],"perSecond":50,"keepsConnections":true}'

import { createHash } from 'node:crypto';
import { Agent, get, type IncomingMessage } from 'node:http';
import type { Tally, VisitOrder } from './visits.ts';

const order: VisitOrder = JSON.parse(process.argv[2] ?? '{}');
const agent = new Agent({ keepAlive: order.keepsConnections });
const statuses: Record<string, number> = {};
const contents: Record<string, number> = {};
const examples: string[] = [];
const open = new Set<Promise<void>>();
let requests = 0;
let failed = 0;
let slowestMs = 0;
let recentlySlowestMs = 0;
let resent = 0;
/** Of each address's last answer with a body. */
const tags = new Map<string, string>();

/** What a request has in addition to its address. */
function headersFor(url: string): Readonly<Record<string, string>> {
  const tag = order.revalidates === true ? tags.get(url) : undefined;
  return {
    ...(tag !== undefined && { 'if-none-match': tag }),
    ...(order.firstBytes !== undefined && { range: `bytes=0-${order.firstBytes - 1}` }),
  };
}

function isRight(status: number, isRevalidated: boolean): boolean {
  if (order.firstBytes !== undefined) return status === 206;
  return status === 200 || (isRevalidated && status === 304);
}

function fail(what: string): void {
  failed += 1;
  if (examples.length < 10) examples.push(`request ${requests}: ${what}`);
}

function ask(url: string): Promise<void> {
  const start = performance.now();
  const headers = headersFor(url);
  requests += 1;
  return new Promise((resolve) => {
    const take = (response: IncomingMessage): void => {
      isAnswered = true;
      const hash = createHash('sha256');
      response.on('data', (chunk: Buffer) => hash.update(chunk));
      response.on('error', (error) => done(`${url}: body: ${error.message}`));
      response.on('end', () => {
        const status = response.statusCode ?? 0;
        statuses[status] = (statuses[status] ?? 0) + 1;
        const isWanted = isRight(status, 'if-none-match' in headers);
        if (isWanted && status !== 304) {
          const content = `${new URL(url).pathname} ${hash.digest('hex').slice(0, 12)}`;
          contents[content] = (contents[content] ?? 0) + 1;
          const { etag } = response.headers;
          if (etag !== undefined) tags.set(url, etag);
        }
        done(isWanted ? undefined : `${url}: status ${status}`);
      });
    };
    let isAnswered = false;
    let isDone = false;
    const done = (wrong: string | undefined): void => {
      // A connection that breaks in mid-body may be reported by both sides.
      if (isDone) return;
      isDone = true;
      if (wrong !== undefined) fail(wrong);
      const ms = Math.round(performance.now() - start);
      slowestMs = Math.max(slowestMs, ms);
      recentlySlowestMs = Math.max(recentlySlowestMs, ms);
      resolve();
    };
    const send = (by: Agent | false): void => {
      const request = get(url, { agent: by, headers, timeout: 10_000 }, take);
      request.on('timeout', () => request.destroy(new Error('no answer within 10 s')));
      request.on('error', (error: NodeJS.ErrnoException) => {
        const { reusedSocket } = request;
        const wasClosed = reusedSocket && error.code === 'ECONNRESET' && !isAnswered;
        if (wasClosed && order.resends === true) {
          resent += 1;
          send(false);
          return;
        }
        const connection = reusedSocket ? 'a connection that was used before' : 'a new connection';
        done(`${url}: ${error.message}, on ${connection}`);
      });
    };
    send(agent);
  });
}

function report(isLast: boolean): void {
  const counts = { requests, failed, resent, statuses, contents, examples };
  const tally: Tally = { ...counts, slowestMs, recentlySlowestMs, isLast };
  recentlySlowestMs = 0;
  process.stdout.write(`${JSON.stringify(tally)}\n`);
}

let next = 0;
const asking = setInterval(() => {
  const url = order.urls[next++ % order.urls.length];
  if (url === undefined) return;
  const asked = ask(url).finally(() => open.delete(asked));
  open.add(asked);
}, 1000 / order.perSecond);
const reporting = setInterval(() => report(false), 250);

process.stdout.on('error', () => process.exit(1));
process.once('SIGTERM', () => {
  clearInterval(asking);
  clearInterval(reporting);
  void Promise.all(open).then(() => {
    report(true);
    agent.destroy();
  });
});
