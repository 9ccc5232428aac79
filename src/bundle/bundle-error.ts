// Why a bundle could not be obtained or was rejected: one class, with a stable code and a message for each reason.
// `LinkExpired` and the transient codes (for example a page instead of the archive) say nothing about the content.
// Every other code rejects the whole archive.

import { PublishableError } from '../wire/publishable-error.ts';

/** What the loop and the server do about it. */
export const bundleErrorKinds = [
  'expired-link', // the link has expired or is not valid yet: get another
  'transient', // network, timeout, an answer that is no archive, disk full: the same link may work later
  'rejected', // an archive came and is not a bundle that can be published: a retry should give the same
] as const;
export type BundleErrorKind = (typeof bundleErrorKinds)[number];

export class BundleError extends PublishableError {
  readonly kind: BundleErrorKind;

  constructor(kind: BundleErrorKind, code: string, message: string, options?: { readonly cause?: unknown }) {
    super(code, message, options);
    this.kind = kind;
  }
}
