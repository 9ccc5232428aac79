// Sizes as users write them in a resource: `512Mi`, `2Gi`. They are Kubernetes quantities with powers of two only,
// so that users need not know what `1G` means. The schema's rule and the reader share one grammar.

/** Used in the CRD's rule. */
export const sizePattern = '^[1-9][0-9]{0,5}(Mi|Gi|Ti)$';

const unitBytes: Readonly<Record<string, number>> = { Mi: 1024 ** 2, Gi: 1024 ** 3, Ti: 1024 ** 4 };

/** @returns bytes, or `undefined` for text that is not a size */
export function parseSizeBytes(text: string): number | undefined {
  if (!new RegExp(sizePattern).test(text)) return undefined;
  return Number(text.slice(0, -2)) * (unitBytes[text.slice(-2)] ?? 0);
}
