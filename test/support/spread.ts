// A few of many, evenly: the first, the last, and those between them at equal distances.

/** @param count at least 2; all where there are not more */
export function spread<T>(all: readonly T[], count: number): readonly T[] {
  const most = Math.min(count, all.length);
  return Array.from(
    { length: most },
    (_, at) => all[Math.round((at * (all.length - 1)) / (most - 1))],
  ).filter((one) => one !== undefined);
}
