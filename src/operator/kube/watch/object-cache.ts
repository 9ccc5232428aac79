// What a reflector remembers of each object, and whether a change wakes its key.
// Invariant: a change of status alone wakes no key, or every reconcile would cause the next one.

import { isDeepStrictEqual } from 'node:util';
import type { ObjectKey, ObjectMeta } from '#platform/wire/cluster.ts';

/** The least that must be remembered of an object. */
export interface Remembered {
  readonly metadata: ObjectMeta;
}

export const cacheKey = ({ namespace, name }: ObjectKey): string => `${namespace}/${name}`;

export class ObjectCache<T extends Remembered> {
  readonly #objects = new Map<string, T>();

  /** Remembers the object; true if its key must be reconciled. */
  put(object: T): boolean {
    const key = cacheKey(object.metadata);
    const before = this.#objects.get(key);
    this.#objects.set(key, object);
    return before === undefined || wakes(before, object);
  }

  /** True if it was there. */
  drop(key: string): boolean {
    return this.#objects.delete(key);
  }

  get(key: string): T | undefined {
    return this.#objects.get(key);
  }

  keys(): readonly string[] {
    return [...this.#objects.keys()];
  }

  get size(): number {
    return this.#objects.size;
  }

  /** Makes the cache equal a complete list. @returns what must be reconciled; new objects count as changed */
  replace(objects: readonly T[]): { readonly changed: readonly T[]; readonly gone: readonly string[] } {
    const listed = new Set(objects.map(({ metadata }) => cacheKey(metadata)));
    const gone = [...this.#objects.keys()].filter((key) => !listed.has(key));
    for (const key of gone) this.#objects.delete(key);
    return { changed: objects.filter((object) => this.put(object)), gone };
  }

  /** Keys under which the list and the cache hold different objects or versions of them. */
  differences(objects: readonly T[]): readonly string[] {
    const listed = new Map(objects.map((object) => [cacheKey(object.metadata), object.metadata]));
    const keys = new Set([...listed.keys(), ...this.#objects.keys()]);
    return [...keys].filter((key) => {
      const cached = this.#objects.get(key)?.metadata;
      const live = listed.get(key);
      return cached?.uid !== live?.uid || cached?.resourceVersion !== live?.resourceVersion;
    });
  }
}

function wakes(before: Remembered, after: Remembered): boolean {
  const [a, b] = [before.metadata, after.metadata];
  return (
    a.uid !== b.uid ||
    a.generation !== b.generation ||
    a.deletionTimestamp !== b.deletionTimestamp ||
    !isDeepStrictEqual(a.annotations, b.annotations)
  );
}
