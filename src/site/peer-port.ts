// What a server tells the other servers of its site, on the admin port: whether it has a bundle, and the bundle.
// Only a digest opens anything, and what it opens is what the site shows to everybody: nothing secret is here.
// Refuses: more copies at once than a few, and readers that take nothing or too little: nobody may shut this port to
// the others. Readiness does not matter; whoever takes a copy verifies it.

import type { RequestListener, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { isOffered, openOffered } from '../bundle/bundle-copy.ts';
import { longestCopyMs } from '../bundle/copy-pace.ts';
import type { PeerState, PeerWord } from '../bundle/peer-request.ts';
import type { Clock } from '../runtime/clock.ts';

/** What this server is up to with a digest that it does not have. */
export interface PeerIntent {
  readonly digest: string;
  readonly state: Exclude<PeerState, 'have' | 'none'>;
  readonly receivedBytes: number;
}

export interface PeerPortFacts {
  readonly id: string;
  readonly storeDir: string;
  readonly intent: () => PeerIntent | undefined;
  /** A reader that takes nothing for so long is let go; default 5 s. */
  readonly readerIdleMs?: number;
  readonly clock: Clock;
}

type Part = 'index' | 'pack';

/** Each costs a descriptor and a quarter of a megabyte; whoever has got a pack can serve the next. */
const mostAtOnce: Readonly<Record<Part, number>> = { index: 32, pack: 4 };
const readerIdleMs = 5_000;

const route = /^\/peers\/([0-9a-f]{64})(?:\/(index|pack))?$/;

/** Answers `/peers/…`, and hands everything else on. */
export function peerPort(facts: PeerPortFacts, others: RequestListener): RequestListener {
  const underWay: Record<Part, number> = { index: 0, pack: 0 };
  const sendPart = async (response: ServerResponse, digest: string, part: Part): Promise<void> => {
    if (underWay[part] >= mostAtOnce[part]) {
      response.writeHead(503, { 'Retry-After': '1' }).end();
      return;
    }
    underWay[part] += 1;
    try {
      const file = await openOffered(facts.storeDir, digest, part);
      if (file === undefined) {
        response.writeHead(404).end();
        return;
      }
      response.writeHead(200, {
        'Content-Type': 'application/octet-stream',
        'Content-Length': file.sizeBytes,
        'Cache-Control': 'no-store',
      });
      // The socket's own timer: it sees that a part of one large write was taken.
      response.setTimeout(facts.readerIdleMs ?? readerIdleMs, () => response.destroy());
      // By then the reader has given up by its own measure, which is the same.
      await pipeline(file.stream(), response, {
        signal: facts.clock.deadline(longestCopyMs(file.sizeBytes)),
      });
    } finally {
      underWay[part] -= 1;
    }
  };
  const sendWord = async (response: ServerResponse, digest: string): Promise<void> => {
    const text = JSON.stringify(await wordOn(digest, facts));
    response.writeHead(200, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' }).end(text);
  };
  return (request, response) => {
    const [, digest, part] = route.exec(request.url ?? '') ?? [];
    if (digest === undefined) {
      others(request, response);
    } else if (request.method !== 'GET') {
      response.writeHead(405, { Allow: 'GET' }).end();
    } else {
      const sending =
        part === 'index' || part === 'pack' ? sendPart(response, digest, part) : sendWord(response, digest);
      // Whoever asked has gone, or the disk failed: the broken connection says all that can be said.
      sending.catch(() => response.destroy());
    }
  };
}

async function wordOn(digest: string, { id, storeDir, intent }: PeerPortFacts): Promise<PeerWord> {
  if (await isOffered(storeDir, digest)) return { id, state: 'have', receivedBytes: 0 };
  const own = intent();
  if (own?.digest !== digest) return { id, state: 'none', receivedBytes: 0 };
  return { id, state: own.state, receivedBytes: own.receivedBytes };
}
