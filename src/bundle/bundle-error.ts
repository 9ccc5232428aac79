// What a failed download or inspection says about a link and its archive, for decisions and metrics. Pure. A failure without a
// row here, such as a page instead of the archive, says nothing about the content; only a refused input rejects it.

import { PublishableError } from '#platform/wire/publishable-error.ts';

export type BundleErrorKind =
  | 'expired-link' // the link has expired: get another
  | 'early-link' // the link is not valid yet: the same link works later
  | 'refused-link' // the storage refuses a link that is valid by its dates: a person has to allow it
  | 'transient' // network, timeout, an answer that is no archive, disk full: the same link may work later
  | 'rejected'; // an archive came and is not a bundle that can be published: a retry should give the same

const ofLinks: ReadonlyMap<string, BundleErrorKind> = new Map([
  ['LinkExpired', 'expired-link'],
  ['LinkNotYetValid', 'early-link'],
  ['LinkRefused', 'refused-link'],
]);

/** An error of no known class is a defect or a fault of the machine: retried, never a refusal. */
export function bundleErrorKind(error: unknown): BundleErrorKind {
  if (!(error instanceof PublishableError)) return 'transient';
  return ofLinks.get(error.code) ?? (error.kind === 'refused' ? 'rejected' : 'transient');
}
