// A few of many, evenly: the first, the last, and those between them at equal distances.

/**
 * All where there are not more than `count`.
 * @throws RangeError for a count below 2
 */
export function spread<T>(all: readonly T[], count: number): readonly T[] {
  if (count < 2) throw new RangeError('the first and the last are two');
  if (all.length <= count) return all;
  return Array.from(
    { length: count },
    (_, at) => all[Math.round((at * (all.length - 1)) / (count - 1))],
  ).filter((one) => one !== undefined);
}
