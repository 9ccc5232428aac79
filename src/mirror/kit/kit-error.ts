// Why a kit was refused: its codes. Refuses text of a kit in its messages, except digests and names that
// a schema has admitted. Every such refusal leaves the target as it was.

import { PublishableError } from '#platform/wire/publishable-error.ts';

const kitErrorCodes = [
  'SignatureInvalid', // the signature is missing, malformed, of another key, or of other bytes
  'KitDamaged', // a byte differs from what was signed, or an entry is missing, unlisted or longer
  'NotAKit', // another kind of file
  'KitFormatUnknown', // a later format
  'BaseMissing', // a delta needs a bundle that is not at hand
  'KitOlder', // a kit with a higher sequence was imported before
  'OtherSeries', // the target holds kits of another series
] as const;
export type KitErrorCode = (typeof kitErrorCodes)[number];

export type KitError = PublishableError<KitErrorCode>;

/** @param what completes "the kit is damaged: …" */
export const kitDamaged = (what: string, cause?: unknown): KitError =>
  new PublishableError('KitDamaged', `the kit is damaged: ${what}`, {
    kind: 'refused',
    remedy: 'Copy the kit again from where it was made.',
    cause,
  });

export const isKitError = (error: unknown): error is KitError =>
  error instanceof PublishableError && kitErrorCodes.some((code) => code === error.code);
