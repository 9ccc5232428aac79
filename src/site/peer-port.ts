// What a server tells the other servers of its site, on the admin port: whether it has a bundle, and the bundle.
// Only a digest opens anything, and what it opens is what the site shows to everybody: nothing secret is here.
// Refuses: more copies at once than a few. Readiness does not matter; whoever takes a copy verifies it.

import type { RequestListener, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { isStored, openOffered } from '../bundle/bundle-copy.ts';
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
  readonly clock: Clock;
}

/** Each costs a descriptor and a quarter of a megabyte; whoever has got one can serve the next. */
const maxCopies = 4;
/** A reader that takes longer gave up long ago by its own measure. */
const longestCopyMs = 15 * 60_000;

const route = /^\/peers\/([0-9a-f]{64})(?:\/(index|pack))?$/;

/** Answers `/peers/…`, and hands everything else on. */
export function peerPort(facts: PeerPortFacts, others: RequestListener): RequestListener {
  let copies = 0;
  const sendPart = async (
    response: ServerResponse,
    digest: string,
    part: 'index' | 'pack',
  ): Promise<void> => {
    if (copies >= maxCopies) {
      response.writeHead(503, { 'Retry-After': '1' }).end();
      return;
    }
    copies += 1;
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
      await pipeline(file.stream(), response, { signal: facts.clock.deadline(longestCopyMs) });
    } finally {
      copies -= 1;
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
  if (await isStored(storeDir, digest)) return { id, state: 'have', receivedBytes: 0 };
  const own = intent();
  if (own?.digest !== digest) return { id, state: 'none', receivedBytes: 0 };
  return { id, state: own.state, receivedBytes: own.receivedBytes };
}
