// Why a bundle could not be obtained or was rejected: one class, with a stable code and a message for each reason.
// `LinkExpired` and the transient codes (for example a page instead of the archive) say nothing about the content.
// Every other code rejects the whole archive.

import { PublishableError } from '../wire/publishable-error.ts';

/** What the loop and the server do about it. */
export const bundleErrorKinds = [
  'expired-link', // the link has expired: get another
  'early-link', // the link is not valid yet: the same link works later
  'refused-link', // the storage refuses a link that is valid by its dates: a person has to allow it
  'transient', // network, timeout, an answer that is no archive, disk full: the same link may work later
  'rejected', // an archive came and is not a bundle that can be published: a retry should give the same
] as const;
export type BundleErrorKind = (typeof bundleErrorKinds)[number];

/** Numbers of a failure that decide when the next attempt may succeed. They cross threads. */
export interface FailureNumbers {
  /** Of a link that is not valid yet. */
  readonly retryAfterMs?: number | undefined;
  /** What must be free on the store's disk. Absent where the disk does not say. */
  readonly neededBytes?: number | undefined;
}

export class BundleError extends PublishableError {
  readonly kind: BundleErrorKind;
  readonly numbers: FailureNumbers;

  constructor(
    kind: BundleErrorKind,
    code: string,
    message: string,
    options: { readonly cause?: unknown; readonly numbers?: FailureNumbers | undefined } = {},
  ) {
    super(code, message, options);
    this.kind = kind;
    this.numbers = options.numbers ?? {};
  }
}
