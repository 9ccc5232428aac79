// A complete list of one resource: page by page while the server keeps the continue token, otherwise in one answer. Pages
// shrink, for later lists too, when an answer exceeds the memory or the deadline of a call, and slowly grow again.
// Refuses: part of a list, and holding whole objects longer than a page.

import type { StaticExportObject } from '#platform/wire/cluster.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import { recordAt, textAt } from '#platform/wire/json-fields.ts';
import { isRecord } from '#platform/wire/json-text.ts';
import { OversizeError, UnfinishedError } from '../transport/exchange.ts';
import type { Resource } from '../transport/resource-path.ts';
import type { Call, Transport } from '../transport/transport.ts';
import { readResource } from './stored-object.ts';

/** Which objects to list, and what to keep of each. */
export interface ListSource<T> {
  readonly transport: Transport;
  readonly resource: Resource;
  /** Absent: all namespaces. */
  readonly namespace?: string | undefined;
  /** Absent: all. An object that stops matching is gone, like a deleted one. */
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

/** @param onPage called for every page */
export type List<T> = (onPage: () => void, signal: AbortSignal) => Promise<Listed<T>>;

const mostObjects = 500;
/** A slow answer may be a short interruption: it does not shrink pages so far that the next list takes for ever. */
const fewestForTime = 32;
/** Each retry costs a whole deadline, and nothing is reported before the list fails. */
const retriesForTime = 2;
/** Room for 8 KiB in each of 500, and for the largest object there may be. Coming apart, it takes about 10 ms. */
export const maxPageBytes = 4 * 1024 * 1024;

/**
 * The page size that it learns is kept for later lists.
 *
 * @returns a list, which throws {ClusterError} when the server refused, or its answer is not a list
 */
export function createList<T>(source: ListSource<T>): List<T> {
  /** The `limit` of a page. */
  let pageObjects = mostObjects;
  /** False where it cannot shrink further. */
  const shrink = (fewest: number): boolean => {
    if (pageObjects <= fewest) return false;
    pageObjects = Math.max(fewest, Math.floor(pageObjects / 2));
    return true;
  };

  /** One page, from the continue token or from the start. */
  const readFitting = async (
    next: string | undefined,
    budget: { retries: number },
    signal: AbortSignal,
  ): Promise<Page<T>> => {
    const from = next === undefined ? {} : { continue: next };
    for (;;) {
      try {
        // Kubernetes does not promise that a token works with another limit, but every API server accepts it. If one
        // refused, the next list would start with the limit that was found by then.
        const query = { limit: String(pageObjects), ...from };
        return await readPage(source, { query, maxBytes: maxPageBytes }, signal);
      } catch (error) {
        if (isTooLarge(error)) {
          if (!shrink(1)) throw impossible(source.resource, error);
        } else {
          if (!isTooSlow(error)) throw error;
          budget.retries -= 1;
          if (!shrink(fewestForTime) || budget.retries < 0) throw error;
        }
      }
    }
  };

  const readPages: List<T> = async (onPage, signal) => {
    const objects: T[] = [];
    const budget = { retries: retriesForTime };
    for (let next: string | undefined; ; ) {
      const page = await readFitting(next, budget, signal);
      onPage();
      objects.push(...page.objects);
      ({ next } = page);
      if (next === undefined) return { objects, resourceVersion: page.resourceVersion };
    }
  };

  /** As client-go does where the continue token expired: another paged list would fail in the same way. */
  const readWhole: List<T> = async (onPage, signal) => {
    try {
      const page = await readPage(source, { query: {} }, signal);
      onPage();
      return page;
    } catch (error) {
      if (!isTooLarge(error)) throw error;
      return readPages(onPage, signal);
    }
  };

  return async (onPage, signal) => {
    const listed = await readPages(onPage, signal).catch((error: unknown) => {
      if (!(error instanceof ClusterError) || error.code !== 'Gone') throw error;
      return readWhole(onPage, signal);
    });
    // By a quarter after each list: while large objects exist, three lists in four waste no answer.
    pageObjects = Math.min(mostObjects, Math.ceil(pageObjects * 1.25));
    return listed;
  };
}

function isTooLarge(error: unknown): boolean {
  return error instanceof ClusterError && error.cause instanceof OversizeError;
}

/** Part of the answer came in time. For a silent server no page is small enough. */
function isTooSlow(error: unknown): boolean {
  return error instanceof ClusterError && error.cause instanceof UnfinishedError;
}

/** etcd's default limit of an object is 1.5 MiB, and the Kubernetes API server's limit of a request is 3 MiB. */
function impossible({ kind }: Resource, cause: unknown): ClusterError {
  const message =
    `a page of one ${kind} is larger than ${maxPageBytes / 1024 / 1024} MiB, which no Kubernetes API server keeps: ` +
    'check the proxy or load balancer in front of it';
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
    throw new ClusterError('Unavailable', 'the answer of the Kubernetes API server is not a list');
  }
  const metadata = recordAt(record, 'metadata');
  return {
    objects: items.map((item) => keep(readResource(item))),
    resourceVersion: textAt(metadata, 'resourceVersion'),
    next: textAt(metadata, 'continue') || undefined,
  };
}
