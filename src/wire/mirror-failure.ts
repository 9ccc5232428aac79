// Why a copy in a mirror is not there, or could not be read, as data that crosses from threads to decisions and status. Owns
// the type only.

export interface MirrorFailure {
  /** As in MirrorError, or of the archive that was to be copied. */
  readonly code: string;
  /** Safe to publish, with the remedy. */
  readonly message: string;
  readonly retryAfterMs: number | undefined;
}
