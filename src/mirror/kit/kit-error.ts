// Why a kit was refused: one class, with a stable code. Refuses text of a kit in its messages, except digests and names that
// a schema has admitted. Every such refusal leaves the target as it was.

import { PublishableError } from '../../wire/publishable-error.ts';

export type KitErrorCode =
  | 'SignatureInvalid' // the signature is missing, malformed, of another key, or of other bytes
  | 'KitDamaged' // a byte differs from what was signed, or an entry is missing, unlisted or longer
  | 'NotAKit' // another kind of file
  | 'KitFormatUnknown' // a later format
  | 'BaseMissing' // a delta needs a bundle that is not at hand
  | 'KitOlder' // a kit with a higher sequence was imported before
  | 'OtherSeries'; // the target holds kits of another series

export class KitError extends PublishableError {
  readonly kitCode: KitErrorCode;
  /** What to do. */
  readonly remedy: string;

  constructor(
    code: KitErrorCode,
    message: string,
    remedy: string,
    options: { readonly cause?: unknown } = {},
  ) {
    super(code, message, options);
    this.kitCode = code;
    this.remedy = remedy;
  }
}

/** @param what completes "the kit is damaged: …" */
export const kitDamaged = (what: string, cause?: unknown): KitError =>
  new KitError('KitDamaged', `the kit is damaged: ${what}`, 'Copy the kit again from where it was made.', {
    cause,
  });
