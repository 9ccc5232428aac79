// The two caches of the replacements: by the identity of an unchanging object, and by a text. Bounded, so that a
// year of links is not kept.

const maxTexts = 5000;

/** The result for each object, until the object is garbage. */
export function byIdentity<K extends object, V>(compute: (key: K) => V): (key: K) => V {
  const known = new WeakMap<K, { readonly answer: V }>();
  return (key) => {
    const found = known.get(key);
    if (found !== undefined) return found.answer;
    const answer = compute(key);
    known.set(key, { answer });
    return answer;
  };
}

/** The result for each text or number; all are dropped above a limit. */
export function byValue<K extends string | number, V>(compute: (key: K) => V): (key: K) => V {
  const known = new Map<K, { readonly answer: V }>();
  return (key) => {
    const found = known.get(key);
    if (found !== undefined) return found.answer;
    const answer = compute(key);
    if (known.size >= maxTexts) known.clear();
    known.set(key, { answer });
    return answer;
  };
}

/** Frozen, because shared results must not change: a write throws. */
export function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const one of Object.values(value)) frozen(one);
  return value;
}
