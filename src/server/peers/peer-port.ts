// Answers the other servers of the site on the admin port: whether this server has a bundle, and the bundle.
// Only a digest gives access, and only to what the site serves publicly: nothing secret is here.
// Refuses: more copies at once than a few, to one address and in all, and readers that take nothing or too little. No
// client shuts this port to the servers of the site. Readiness does not matter: the server that takes a copy verifies it.

import type { ReadStream } from 'node:fs';
import type { RequestListener, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { isOffered, type OfferedFile, openOffered } from '#bundle/peer/bundle-copy.ts';
import { isTooSlow } from '#bundle/peer/copy-pace.ts';
import type { PeerState, PeerStatus } from '#bundle/peer/peer-request.ts';
import type { Clock } from '#platform/runtime/clock.ts';

/** What this server does about a digest that it does not have. */
export interface PeerIntent {
  readonly digest: string;
  readonly state: Exclude<PeerState, 'have' | 'none'>;
  readonly receivedBytes: number;
}

export interface PeerPortContext {
  readonly id: string;
  readonly storeDir: string;
  readonly intent: () => PeerIntent | undefined;
  /** Whether an address is one of the servers of this site, as far as is known. */
  readonly isPeer: (address: string) => boolean;
  readonly clock: Clock;
}

type Part = 'index' | 'pack';

/** A slot costs a descriptor, a quarter of a megabyte and the system's buffers. A server that has a pack serves the next. */
const slotLimits: Readonly<Record<Part, SlotLimits>> = {
  index: { atOnce: 16, perAddress: 4 },
  pack: { atOnce: 4, perAddress: 2 },
};
const paceCheckMs = 500;

const route = /^\/peers\/([0-9a-f]{64})(?:\/(index|pack))?$/;

/** Answers `/peers/…`, and hands everything else on. */
export function peerPort(context: PeerPortContext, others: RequestListener): RequestListener {
  const slots: Readonly<Record<Part, TakeSlot>> = {
    index: createCopySlots(slotLimits.index, context.isPeer),
    pack: createCopySlots(slotLimits.pack, context.isPeer),
  };
  const sendPart = async (response: ServerResponse, digest: string, part: Part): Promise<void> => {
    const giveBack = slots[part](addressOf(response));
    if (giveBack === undefined) {
      response.writeHead(503, { 'Retry-After': '1' }).end();
      return;
    }
    let file: OfferedFile | undefined;
    try {
      file = await openOffered(context.storeDir, digest, part);
      if (file === undefined) {
        response.writeHead(404).end();
        return;
      }
      response.writeHead(200, {
        'Content-Type': 'application/octet-stream',
        'Content-Length': file.sizeBytes,
        'Cache-Control': 'no-store',
      });
      await sendInTime(file.stream, response, context.clock);
    } finally {
      // The client may have gone before the first byte: then no pipeline has closed it.
      file?.stream.destroy();
      giveBack();
    }
  };
  const sendState = async (response: ServerResponse, digest: string): Promise<void> => {
    const text = JSON.stringify(await stateOf(digest, context));
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
        part === 'index' || part === 'pack' ? sendPart(response, digest, part) : sendState(response, digest);
      // The client has gone, or the disk failed: the broken connection reports both.
      sending.catch(() => response.destroy());
    }
  };
}

/** @throws when the reader has gone, or is behind the pace: a server of the site has given up by then */
async function sendInTime(file: ReadStream, response: ServerResponse, clock: Clock): Promise<void> {
  const start = clock.monotonic();
  const over = new AbortController();
  const cut = new AbortController();
  const takenBytes = (): number => file.bytesRead - file.readableLength - response.writableLength;
  const watchPace = async (): Promise<void> => {
    do await clock.after(paceCheckMs, over.signal);
    while (!isTooSlow(takenBytes(), clock.monotonic() - start));
    cut.abort();
  };
  const watching = watchPace().catch(() => {}); // ends by the abort below
  try {
    await pipeline(file, response, { signal: cut.signal });
  } finally {
    over.abort();
    await watching;
  }
}

/** Of the client; an IPv4 address as such, on a port of both families too. */
function addressOf({ socket }: ServerResponse): string {
  return (socket?.remoteAddress ?? '').replace(/^::ffff:/, '');
}

async function stateOf(digest: string, { id, storeDir, intent }: PeerPortContext): Promise<PeerStatus> {
  if (await isOffered(storeDir, digest)) return { id, state: 'have', receivedBytes: 0 };
  const own = intent();
  if (own?.digest !== digest) return { id, state: 'none', receivedBytes: 0 };
  return { id, state: own.state, receivedBytes: own.receivedBytes };
}

/** Gives a slot to an address. @returns what gives it back; `undefined` while none is free for that address */
export type TakeSlot = (address: string) => (() => void) | undefined;

export interface SlotLimits {
  /** For servers of this site, and as many again for all other addresses. */
  readonly atOnce: number;
  readonly perAddress: number;
}

export function createCopySlots(
  { atOnce, perAddress }: SlotLimits,
  isPeer: (address: string) => boolean,
): TakeSlot {
  const held = { peers: new Map<string, number>(), others: new Map<string, number>() };
  return (address) => {
    const own = isPeer(address) ? held.peers : held.others;
    const count = own.get(address) ?? 0;
    if (count >= perAddress || sumOf(own) >= atOnce) return undefined;
    own.set(address, count + 1);
    return () => {
      const left = (own.get(address) ?? 0) - 1;
      if (left > 0) own.set(address, left);
      else own.delete(address);
    };
  };
}

function sumOf(held: ReadonlyMap<string, number>): number {
  return held.values().reduce((sum, count) => sum + count, 0);
}
