// A list of one resource, whole: page by page while the server remembers them, else in one piece.
// Refuses: part of a list. What is not kept of an object is let go page by page, not when all is read.

import { ClusterError } from '../wire/cluster-error.ts';
import { isRecord, recordAt, textAt } from './json.ts';
import type { Resource } from './resource-path.ts';
import { readResource, type StoredResource } from './stored-object.ts';
import type { Transport } from './transport.ts';

/** Which objects, and what is kept of each. */
export interface ListSource<T> {
  readonly transport: Transport;
  readonly resource: Resource;
  /** Absent: all namespaces. */
  readonly namespace?: string | undefined;
  /** Absent: all. What stops matching is gone, as if it had been deleted. */
  readonly labelSelector?: string;
  readonly keep: (object: StoredResource) => T;
}

export interface Listed<T> {
  readonly objects: readonly T[];
  readonly resourceVersion: string | undefined;
}

interface Page<T> extends Listed<T> {
  /** Where the next page begins. */
  readonly next: string | undefined;
}

const pageSize = 500;

/**
 * @param heard told of every page that came, before the next one is asked for
 * @throws {ClusterError} when the server refused, or answered with something else than a list
 */
export async function listAll<T>(
  source: ListSource<T>,
  heard: (page: readonly T[]) => void,
  signal: AbortSignal,
): Promise<Listed<T>> {
  const read = async (query: Readonly<Record<string, string>>): Promise<Page<T>> => {
    const page = await readPage(source, query, signal);
    heard(page.objects);
    return page;
  };
  const limit = String(pageSize);
  const first = await read({ limit });
  const objects = [...first.objects];
  let { resourceVersion, next } = first;
  while (next !== undefined) {
    try {
      const page = await read({ limit, continue: next });
      objects.push(...page.objects);
      ({ resourceVersion, next } = page);
    } catch (error) {
      if (!(error instanceof ClusterError) || error.code !== 'Gone') throw error;
      // The pages outlived the server's memory of them, and would again: all at once, as client-go does.
      return read({});
    }
  }
  return { objects, resourceVersion };
}

async function readPage<T>(
  { transport, resource, namespace, labelSelector, keep }: ListSource<T>,
  query: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Page<T>> {
  const selected = labelSelector === undefined ? query : { labelSelector, ...query };
  const address = { resource, namespace };
  const answer = await transport.call({ verb: 'list', method: 'GET', address, query: selected }, signal);
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
