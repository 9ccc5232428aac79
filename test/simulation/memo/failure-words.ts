// Replaces `src/operator/reconcile/status/failure-words.ts`: one host for one address.

import { hostOf as hostAnew } from '#operator/reconcile/status/failure-words.ts';
import { byValue } from './memory.ts';

export * from '#operator/reconcile/status/failure-words.ts';

const hosts = byValue((baseUrl: string) => hostAnew(baseUrl));

export function hostOf(baseUrl: string | undefined): string | undefined {
  return baseUrl === undefined ? undefined : hosts(baseUrl);
}
