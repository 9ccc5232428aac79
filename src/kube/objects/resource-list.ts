// A list of one resource, whole: page by page while the server remembers them, else in one piece. A page is so many
// objects that its answer fits, in memory and in a call's time: fewer from the first one that does not, for later lists
// too, and slowly more again.
// Refuses: part of a list. What is not kept of an object is let go page by page, not when all is read.

import type { StaticExportObject } from '../../wire/cluster.ts';
import { ClusterError } from '../../wire/cluster-error.ts';
import { OversizeError, UnfinishedError } from '../transport/exchange.ts';
import { isRecord, recordAt, textAt } from '../transport/json.ts';
import type { Resource } from '../transport/resource-path.ts';
import type { Call, Transport } from '../transport/transport.ts';
import { readResource } from './stored-object.ts';

/** Which objects, and what is kept of each. */
export interface ListSource<T> {
  readonly transport: Transport;
  readonly resource: Resource;
  /** Absent: all namespaces. */
  readonly namespace?: string | undefined;
  /** Absent: all. What stops matching is gone, as if it had been deleted. */
  readonly labelSelector?: string;
  readonly keep: (object: StaticExportObject) => T;
}

export interface Listed<T> {
  readonly objects: readonly T[];
  readonly resourceVersion: string | undefined;
}

interface Page<T> extends Listed<T> {
  /** Where the next page begins. */
  readonly next: string | undefined;
}

/** @param heard told of every page that came */
export type List<T> = (heard: () => void, signal: AbortSignal) => Promise<Listed<T>>;

const mostObjects = 500;
/** What is slow may only have stopped for a moment: pages are not made so small by it that the next list takes for ever. */
const fewestForTime = 32;
/** Each costs a whole deadline, of which nobody is told until the list is given up. */
const triesForTime = 2;
/** Room for 8 KiB in each of 500, and for the largest object there may be. Coming apart, it takes about 10 ms. */
export const maxPageBytes = 4 * 1024 * 1024;

/**
 * What it learns of the size of objects is kept for the lists that follow.
 *
 * @returns a list, which throws {ClusterError} when the server refused, or answered with something else than a list
 */
export function createList<T>(source: ListSource<T>): List<T> {
  const size = new PageSize();

  /** From the place that `next` says, or from the start. */
  const readFitting = async (
    next: string | undefined,
    patience: Patience,
    signal: AbortSignal,
  ): Promise<Page<T>> => {
    const place = next === undefined ? {} : { continue: next };
    for (;;) {
      try {
        // Another limit with the same token is no promise of Kubernetes, but what every API server takes. One that
        // refused would be asked from the start by the next list, with the limit that was found by then.
        const query = { limit: String(size.objects), ...place };
        return await readPage(source, { query, maxBytes: maxPageBytes }, signal);
      } catch (error) {
        if (isTooLarge(error)) {
          if (!size.shrink(1)) throw impossible(source.resource, error);
        } else {
          if (!isTooSlow(error)) throw error;
          patience.tries -= 1;
          if (!size.shrink(fewestForTime) || patience.tries < 0) throw error;
        }
      }
    }
  };

  const readPages: List<T> = async (heard, signal) => {
    const objects: T[] = [];
    const patience: Patience = { tries: triesForTime };
    for (let next: string | undefined; ; ) {
      const page = await readFitting(next, patience, signal);
      heard();
      objects.push(...page.objects);
      ({ next } = page);
      if (next === undefined) return { objects, resourceVersion: page.resourceVersion };
    }
  };

  /** As client-go does where the pages outlive the server's memory of them: they would again. */
  const readWhole: List<T> = async (heard, signal) => {
    try {
      const page = await readPage(source, { query: {} }, signal);
      heard();
      return page;
    } catch (error) {
      if (!isTooLarge(error)) throw error;
      return readPages(heard, signal);
    }
  };

  return async (heard, signal) => {
    const listed = await readPages(heard, signal).catch((error: unknown) => {
      if (!(error instanceof ClusterError) || error.code !== 'Gone') throw error;
      return readWhole(heard, signal);
    });
    size.grow();
    return listed;
  };
}

/** Of one list, with a way that is slow. */
interface Patience {
  tries: number;
}

/** How many objects are asked for at once. */
class PageSize {
  #objects = mostObjects;

  get objects(): number {
    return this.#objects;
  }

  /** False: it is as small as that already. */
  shrink(fewest: number): boolean {
    if (this.#objects <= fewest) return false;
    this.#objects = Math.max(fewest, Math.floor(this.#objects / 2));
    return true;
  }

  /** By a quarter after a whole list: while large objects stay, three lists in four waste no answer. */
  grow(): void {
    this.#objects = Math.min(mostObjects, Math.ceil(this.#objects * 1.25));
  }
}

function isTooLarge(error: unknown): boolean {
  return error instanceof ClusterError && error.cause instanceof OversizeError;
}

/** It came, and not to its end in time. Of a server that is silent no page is small enough. */
function isTooSlow(error: unknown): boolean {
  return error instanceof ClusterError && error.cause instanceof UnfinishedError;
}

/** etcd keeps no object of more than 1.5 MiB unless told to, and the API server takes no more than 3: nobody can make one. */
function impossible({ kind }: Resource, cause: unknown): ClusterError {
  const message =
    `a page of one ${kind} is larger than ${maxPageBytes / 1024 / 1024} MiB, which no API server keeps: ` +
    'look at the proxy or load balancer in front of it';
  return new ClusterError('Unavailable', message, { cause });
}

async function readPage<T>(
  { transport, resource, namespace, labelSelector, keep }: ListSource<T>,
  asked: Pick<Call, 'query' | 'maxBytes'>,
  signal: AbortSignal,
): Promise<Page<T>> {
  const query = labelSelector === undefined ? asked.query : { labelSelector, ...asked.query };
  const address = { resource, namespace };
  const answer = await transport.call(
    { verb: 'list', method: 'GET', address, ...asked, query: query ?? {} },
    signal,
  );
  const record = isRecord(answer) ? answer : {};
  const items = record['items'];
  if (!Array.isArray(items)) {
    throw new ClusterError('Unavailable', 'the API server answered a list with something else');
  }
  const metadata = recordAt(record, 'metadata');
  return {
    objects: items.map((item) => keep(readResource(item))),
    resourceVersion: textAt(metadata, 'resourceVersion'),
    next: textAt(metadata, 'continue') || undefined,
  };
}
