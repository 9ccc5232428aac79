// Bounded texts of the resource's schema, each with a CEL rule that means the same as its pattern here. Shared by the spec,
// the status and the targets. Refuses: text without a bound, which would exceed the API server's cost limit.

import * as z from 'zod';
import { isPrintable } from '#platform/wire/printable-text.ts';
import { durationPattern } from './duration.ts';
import { sizePattern } from './size.ts';

/** A CEL rule of the CRD, carried in the schema's metadata. */
export interface CelRule {
  readonly rule: string;
  readonly message: string;
  readonly optionalOldSelf?: boolean;
}

/** The name under which `crds/generate.ts` finds the metadata in the JSON schema. */
export const celKey = 'x-kubernetes-validations';
export const cel = (...rules: readonly CelRule[]) => ({ [celKey]: rules });
/** A list with named entries: a duplicate name is refused, and server-side apply merges by name. */
export const namedList = { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] } as const;

/** Counted repetition and `[.]` mean the same in RE2 (Kubernetes API server) and here, and need no escapes in CEL. */
export const hostNamePattern =
  '^([a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?[.])*[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?$';
/**
 * Text that matches a pattern. The message is a sentence, because the Kubernetes API server otherwise returns only
 * the pattern.
 */
export function formed(maxLength: number, pattern: string, message: string) {
  const form = new RegExp(pattern);
  return z
    .string()
    .min(1)
    .max(maxLength)
    .refine((text) => form.test(text), { error: message })
    .meta(cel({ rule: `self.matches('${pattern}')`, message }));
}

/** The part of the rule that CEL can express. `isPrintable` refuses the rest. */
const hiddenRule: CelRule = {
  rule: "!self.matches(r'[\\p{C}\\p{Zl}\\p{Zp}]')",
  message:
    'must not contain control characters, invisible characters, or characters that change the text direction',
};

/** Text without a pattern of its own. Status, events and logs show it. */
export function shownText(maxLength: number, ...rules: readonly CelRule[]) {
  return z
    .string()
    .min(1)
    .max(maxLength)
    .refine(isPrintable, { error: hiddenRule.message })
    .meta(cel(hiddenRule, ...rules));
}

export const objectName = formed(
  253,
  '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$',
  'must be the name of an object: lower-case letters, digits, "-" and ".", beginning and ending with a letter or digit',
);
export const namespaceName = formed(
  63,
  '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
  'must be the name of a namespace: lower-case letters, digits and "-", beginning and ending with a letter or digit',
);
export const dataKey = formed(
  253,
  '^[-._a-zA-Z0-9]+$',
  'must be a key of a Secret or ConfigMap: letters, digits, "-", "_" and "."',
);
export const durationText = formed(
  40,
  durationPattern,
  'must be a duration such as 30s, 15m, 1h30m or 7d: whole numbers with the units ms, s, m, h, d, without blanks',
);
export const size = formed(
  8,
  sizePattern,
  'must be a size such as 512Mi or 2Gi: a whole number of Mi, Gi or Ti',
);
