// Streams the archive's bytes from an `http(s):` link. Size, duration, silence and redirects are bounded. A broken
// connection is resumed only where a strong ETag proves that the archive is the same. Otherwise the caller gets
// `DownloadInterrupted` and starts again. A link that becomes valid within a minute is waited for here. Invariant: no error
// holds more of a URL than its host, or a header or a body.

import type { HttpAgent } from '#platform/http/agent.ts';
import { chunksOf, discard, headerOf } from '#platform/http/exchange.ts';
import type { Clock } from '#platform/runtime/clock.ts';
import type { Link } from '#platform/wire/link.ts';
import { PublishableError, publishableCode } from '#platform/wire/publishable-error.ts';
import type { BundleLimits } from '../limits.ts';
import { refusal, truncated } from '../refusal.ts';
import { linkFault } from './link-answer.ts';
import { type LinkAnswer, linkNetworkFault, readJudged, requestLink } from './link-request.ts';

export interface DownloadOptions {
  readonly agent: HttpAgent;
  readonly clock: Clock;
  readonly limits: BundleLimits;
  readonly userAgent: string;
  /** Receives the archive's announced size before any byte is read; throws if it is too large. */
  readonly admit?: ((archiveBytes: number) => Promise<void>) | undefined;
}

const maxResumes = 4;
const firstPauseMs = 250;
/** In all, for a link that is not valid yet. A longer wait is the caller's, where it can be seen. */
const longestEarlyWaitMs = 60_000;

/** What is known of the archive from its first answer. */
interface Entity {
  readonly strongEtag: string | undefined;
  readonly totalBytes: number | undefined;
}

/**
 * @returns chunks that the consumer may keep; ending the iteration ends the download
 * @throws {PublishableError} of every kind; the signal's reason when aborted
 */
export async function* download(
  link: Link,
  options: DownloadOptions,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const { clock, limits } = options;
  const deadline = clock.deadline(limits.downloadTimeoutMs, signal);
  let host = link.host;
  const rethrow = (error: unknown): unknown => {
    if (signal.aborted) return signal.reason;
    return deadline.aborted ? timedOut(host, error) : linkNetworkFault(host, error, deadline);
  };
  let entity: Entity | undefined;
  let received = 0;
  let earlyMs = 0;
  for (let resumes = 0; ; resumes += 1) {
    try {
      const answer = await requestLink(
        link,
        { ...options, maxRedirects: limits.maxRedirects, headers: rangeOf(received, entity) },
        deadline,
      );
      host = answer.host;
      try {
        entity = await readEntity(answer, received, entity, link, options);
      } catch (error) {
        discard(answer);
        throw error;
      }
      for await (const chunk of chunksOf(answer)) {
        received += chunk.length;
        if (received > limits.maxArchiveBytes) throw refusal('ArchiveTooLarge');
        yield chunk;
      }
      if (entity.totalBytes !== undefined && received !== entity.totalBytes) throw brokenOff(host);
      requireLength(received, link);
      return;
    } catch (error) {
      const fault = rethrow(error);
      const { retryAfterMs = longestEarlyWaitMs } = fault instanceof PublishableError ? fault : {};
      if (
        fault instanceof PublishableError &&
        fault.code === 'LinkNotYetValid' &&
        earlyMs + retryAfterMs <= longestEarlyWaitMs
      ) {
        earlyMs += retryAfterMs;
        await clock.after(retryAfterMs, deadline).catch((reason) => {
          throw rethrow(reason);
        });
        continue;
      }
      const isOver = !(fault instanceof PublishableError) || fault.kind !== 'retry' || deadline.aborted;
      if (isOver || isAnswered(fault) || entity === undefined) throw fault;
      if (entity.strongEtag === undefined || resumes >= maxResumes) throw interrupted(host, fault);
      await clock.after(firstPauseMs * 2 ** resumes, deadline).catch((reason) => {
        throw rethrow(reason);
      });
    }
  }
}

function rangeOf(received: number, entity: Entity | undefined): Readonly<Record<string, string>> {
  if (received === 0 || entity?.strongEtag === undefined) return {};
  return { range: `bytes=${received}-`, 'if-range': entity.strongEtag };
}

/** Accepts an answer as the whole archive, or as its continuation. */
async function readEntity(
  answer: LinkAnswer,
  received: number,
  known: Entity | undefined,
  link: Link,
  { limits, admit, clock }: DownloadOptions,
): Promise<Entity> {
  const { statusCode } = answer;
  if (statusCode === 200 && received === 0) {
    const entity = { strongEtag: strongEtagOf(answer), totalBytes: lengthOf(answer) };
    if ((entity.totalBytes ?? 0) > limits.maxArchiveBytes) throw refusal('ArchiveTooLarge');
    requireLength(entity.totalBytes, link);
    if (entity.totalBytes !== undefined) await admit?.(entity.totalBytes);
    return entity;
  }
  if (statusCode === 206 && received > 0 && known !== undefined) {
    const range = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headerOf(answer, 'content-range') ?? '');
    const isNext = Number(range?.[1]) === received && strongEtagOf(answer) === known.strongEtag;
    const isSameSize = known.totalBytes === undefined || range?.[2] === String(known.totalBytes);
    if (range !== null && isNext && isSameSize) return known;
  }
  const isSuccess = statusCode >= 200 && statusCode < 300;
  throw (
    (isSuccess ? undefined : linkFault(answer.host, await readJudged(answer, clock.now()))) ??
    changed(answer.host)
  );
}

/** Refuses another length than the export API named, before anything is unpacked where the storage announces its own. */
function requireLength(bytes: number | undefined, { claimedBytes }: Link): void {
  if (bytes === undefined || claimedBytes === undefined || bytes === claimedBytes) return;
  throw truncated(bytes, claimedBytes);
}

const answeredCodes: readonly string[] = [
  'StorageUnavailable',
  'DownloadInterrupted',
  'CertificateNotTrusted',
];
const isAnswered = (fault: PublishableError): boolean => answeredCodes.includes(fault.code);

function strongEtagOf(answer: LinkAnswer): string | undefined {
  const etag = headerOf(answer, 'etag');
  return etag !== undefined && /^"[^"]*"$/.test(etag) ? etag : undefined;
}

function lengthOf(answer: LinkAnswer): number | undefined {
  const text = headerOf(answer, 'content-length');
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function interrupted(host: string, cause?: unknown): PublishableError {
  return new PublishableError(
    'DownloadInterrupted',
    `The download from storage ${host} broke off before its end (${publishableCode(cause)})`,
    { kind: 'retry', cause },
  );
}

function brokenOff(host: string): PublishableError {
  const message = `The download from storage ${host} ended before its announced length`;
  return new PublishableError('DownloadFailed', message, { kind: 'retry' });
}

function changed(host: string): PublishableError {
  const message = `The archive of storage ${host} changed while it was downloaded`;
  return new PublishableError('DownloadInterrupted', message, { kind: 'retry' });
}

function timedOut(host: string, cause: unknown): PublishableError {
  const message = `The download from storage ${host} took longer than allowed`;
  return new PublishableError('DownloadTimeout', message, { kind: 'retry', cause });
}
