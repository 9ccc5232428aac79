// An API server without sockets, over virtual time, and one reflector that watches it. It lists in pages. It keeps no
// history; the test sends the events of a watch.

import assert from 'node:assert/strict';
import { OversizeError, UnfinishedError } from '#operator/kube/transport/exchange.ts';
import { staticExports } from '#operator/kube/transport/resource-path.ts';
import type { Call, Transport } from '#operator/kube/transport/transport.ts';
import { createReflector } from '#operator/kube/watch/reflector.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import { settle, steppedClock } from '../../../support/stepped-clock.ts';

interface Stream {
  readonly query: Readonly<Record<string, string>>;
  send(type: string, object: object): Promise<void>;
  /** As when the server ends it in order, or `with` an error. */
  end(error?: Error): Promise<void>;
}

export const object = (name: string, resourceVersion: number, generation = 1) => ({
  metadata: {
    namespace: 'ns',
    name,
    uid: `uid-${name}`,
    resourceVersion: String(resourceVersion),
    generation,
  },
});

export class FakeServer implements Transport {
  objects: object[] = [];
  version = 10;
  pageSize = 500;
  lists = 0;
  /** Of each request for a list: what was asked for. */
  readonly asked: string[] = [];
  /** Whether an answer with these objects, from this position on, is read. */
  fits: (objects: readonly object[], from: number) => boolean = () => true;
  /** Whether an answer with so many objects comes to its end in time. */
  isQuick: (count: number) => boolean = () => true;
  /** Pages after the first are no longer known. */
  hasShortMemory = false;
  failList: ClusterError | undefined;
  /** Pages after the first come when it resolves. */
  nextPages: Promise<void> = Promise.resolve();
  failWatch: ClusterError | undefined;
  readonly streams: Stream[] = [];
  readonly watchedAt: number[] = [];
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  async call({ query = {}, maxBytes }: Call): Promise<unknown> {
    if (this.failList !== undefined) throw this.failList;
    if (query['continue'] === undefined) this.lists += 1;
    else await this.nextPages;
    if (query['continue'] !== undefined && this.hasShortMemory)
      throw new ClusterError('Gone', 'the continue parameter is too old');
    const from = Number(query['continue'] ?? 0);
    const { limit } = query;
    const end = limit === undefined ? this.objects.length : from + Math.min(this.pageSize, Number(limit));
    const items = this.objects.slice(from, end);
    this.asked.push(`${limit ?? 'all'} from ${from}`);
    if (!this.fits(items, from)) {
      throw new ClusterError('Unavailable', 'too large', { cause: new OversizeError(maxBytes ?? 0) });
    }
    if (!this.isQuick(items.length)) {
      throw new ClusterError('Unavailable', 'too slow', { cause: new UnfinishedError() });
    }
    const metadata = {
      resourceVersion: String(this.version),
      ...(end < this.objects.length && { continue: String(end) }),
    };
    return { metadata, items };
  }

  async stream({ query = {} }: Call, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    this.watchedAt.push(this.#now());
    if (this.failWatch !== undefined) throw this.failWatch;
    const chunks: (Uint8Array | Error | undefined)[] = [];
    let wake = (): void => {};
    const push = async (chunk: Uint8Array | Error | undefined): Promise<void> => {
      chunks.push(chunk);
      wake();
      await settle();
    };
    this.streams.push({
      query,
      send: (type, one) => push(Buffer.from(`${JSON.stringify({ type, object: one })}\n`)),
      end: (error) => push(error),
    });
    signal.addEventListener('abort', () => {
      chunks.push(new ClusterError('Aborted', 'stopped'));
      wake();
    });
    return (async function* () {
      for (;;) {
        while (chunks.length === 0) await new Promise<void>((resolve) => (wake = resolve));
        const chunk = chunks.shift();
        if (chunk === undefined) return;
        if (chunk instanceof Error) throw chunk;
        yield chunk;
      }
    })();
  }

  async close(): Promise<void> {}
}

export function startReflector(prepare: (server: FakeServer) => void = () => {}, fraction = () => 0.5) {
  const clock = steppedClock();
  const server = new FakeServer(clock.monotonic);
  prepare(server);
  const wakes: string[] = [];
  const found: string[] = [];
  const troubles: (string | undefined)[] = [];
  const stop = new AbortController();
  const reflector = createReflector({
    transport: server,
    resource: staticExports,
    namespace: 'ns',
    keep: (object) => object,
    clock,
    random: { uuid: () => '', bytes: () => new Uint8Array(), fraction: () => fraction() },
    wake: (key, how) => {
      wakes.push(key);
      found.push(how);
    },
    report: (trouble) => troubles.push(trouble?.code),
  });
  const running = reflector.run(stop.signal);
  const last = (): Stream => server.streams.at(-1) ?? assert.fail('no watch is open');
  return { clock, server, reflector, wakes, found, troubles, stop, running, last };
}

/** The wakes so far, which are forgotten. */
export const take = (wakes: string[]): readonly string[] => wakes.splice(0);
