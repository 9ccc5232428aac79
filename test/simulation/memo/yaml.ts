// Stands in for the `yaml` of the product: values.yaml of the same version and link has the same text.

import { stringify as stringifyAnew } from 'yaml';
import { byValue } from './memory.ts';

export * from 'yaml';

const texts = byValue((value: string) => stringifyAnew(JSON.parse(value), { lineWidth: 0 }));

/** As the outputs call it. */
export function stringify(value: unknown, options: { readonly lineWidth: 0 }): string {
  return options.lineWidth === 0 ? texts(JSON.stringify(value)) : stringifyAnew(value, options);
}
