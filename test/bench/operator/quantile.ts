// Quantiles of a few numbers, by nearest rank. Of none at all it is NaN, which says so in what is printed;
// nothing is interpolated, so that what is printed was measured.

/** @param share 0 to 1; 0.5 is the median */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
