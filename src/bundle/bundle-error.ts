// Why a bundle could not be obtained or was refused. One class with stable codes and a message for each.
// `LinkExpired` and the transient codes (a page in place of the archive among them) say nothing about the content;
// every other code refuses the archive whole.

import { PublishableError } from '../wire/publishable-error.ts';

/** What the loop and the server do about it. */
export const bundleErrorKinds = [
  'dead-link', // the link no longer (or not yet) gives the archive: get another
  'transient', // network, timeout, an answer that is no archive, disk full: the same link may work later
  'refused', // an archive came and is not a bundle that can be published: a retry should give the same
] as const;
export type BundleErrorKind = (typeof bundleErrorKinds)[number];

export class BundleError extends PublishableError {
  readonly kind: BundleErrorKind;

  constructor(kind: BundleErrorKind, code: string, message: string, options?: { readonly cause?: unknown }) {
    super(code, message, options);
    this.kind = kind;
  }
}
