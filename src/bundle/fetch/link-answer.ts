// Decides from a storage's answer whether a link is valid, expired, or neither. Pure over status and start of the body.
// The body is read only to tell an expired signature from other refusals and is never repeated anywhere.

export type LinkState = 'valid' | 'expired' | 'unknown';

/** Enough for any storage's error document. */
export const maxJudgedBytes = 8192;

/** 401 and 403: the signature has expired or was never valid. 404 and 410: the archive is gone. */
const expiredStatuses: readonly number[] = [401, 403, 404, 410];

/** How storages say it when they answer 400 or another status (S3, GCS, Azure, CloudFront, R2, MinIO). */
const expiredWords =
  /\b(ExpiredToken|TokenExpired|RequestExpired|AuthenticationFailed)\b|\b(token|request|signature|link|url)\s+(has\s+|is\s+)?expired\b/i;

/**
 * @param status HTTP status of an answer that is no redirect
 * @param bodyStart at most {@link maxJudgedBytes} of it, any encoding
 */
export function judgeAnswer(status: number, bodyStart: string): LinkState {
  if (status === 200 || status === 206 || status === 416) return 'valid';
  if (expiredStatuses.includes(status)) return 'expired';
  return status >= 400 && status !== 429 && status !== 503 && expiredWords.test(bodyStart)
    ? 'expired'
    : 'unknown';
}

/** Reads up to {@link maxJudgedBytes} of a body and lets go of the rest. Never rejects. */
export async function readBodyStart(body: AsyncIterable<unknown>): Promise<string> {
  const pieces: Buffer[] = [];
  let count = 0;
  try {
    for await (const piece of body) {
      if (!(piece instanceof Uint8Array)) break;
      pieces.push(Buffer.from(piece));
      count += piece.length;
      if (count >= maxJudgedBytes) break;
    }
  } catch {
    // What came before the break is judged; a broken error page decides nothing more.
  }
  return Buffer.concat(pieces).subarray(0, maxJudgedBytes).toString('latin1');
}
