// Replaces `src/operator/staticexport/wanted.ts`: one result for the same spec and settings.

import type { Spec } from '#operator/staticexport/schema.ts';
import { applyDefaults as applyAnew, type Wanted } from '#operator/staticexport/wanted.ts';
import { byIdentity, byValue, frozen } from './memory.ts';

export type { Pin, Wanted, WantedTarget } from '#operator/staticexport/wanted.ts';

type Identity = Parameters<typeof applyAnew>[0];
type Settings = Parameters<typeof applyAnew>[2];

const known = byIdentity((spec: Spec) =>
  byValue((about: string): Wanted => {
    const [namespace = '', name = '', apiBaseUrl] = about.split('\n');
    return frozen(applyAnew({ namespace, name }, spec, { apiBaseUrl }));
  }),
);

export function applyDefaults({ namespace, name }: Identity, spec: Spec, { apiBaseUrl }: Settings): Wanted {
  const about = [namespace, name, ...(apiBaseUrl === undefined ? [] : [apiBaseUrl])].join('\n');
  return known(spec)(about);
}
