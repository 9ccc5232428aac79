// Sizes as people write them in a resource: `512Mi`, `2Gi`. The form of Kubernetes' quantities, powers of two only, so
// that nobody has to know what `1G` means. One grammar for the schema's rule and for the reader.

/** Used in the CRD's rule. */
export const sizePattern = '^[1-9][0-9]{0,5}(Mi|Gi|Ti)$';

const unitBytes: Readonly<Record<string, number>> = { Mi: 1024 ** 2, Gi: 1024 ** 3, Ti: 1024 ** 4 };

/** @returns bytes, or `undefined` for text that is no size */
export function parseSizeBytes(text: string): number | undefined {
  if (!new RegExp(sizePattern).test(text)) return undefined;
  return Number(text.slice(0, -2)) * (unitBytes[text.slice(-2)] ?? 0);
}
