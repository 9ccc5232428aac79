// The two memories that the stand-ins here are made of: by the identity of an object that nobody changes, and by a
// text. Bounded, so that a year of links does not stay.

const maxTexts = 5000;

/** The answer to each object, for as long as the object lives. */
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

/** The answer to each text or number; all are forgotten when there are too many. */
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

/** Shared answers must not be changed: who tries, throws. */
export function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const one of Object.values(value)) frozen(one);
  return value;
}
