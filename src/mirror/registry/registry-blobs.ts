// Blobs of a repository: streams in both directions. An upload is one POST and one PUT of known size, because registries
// differ in chunks. A download that breaks off goes on where it stopped. Invariant: no byte beyond a blob's size is handed
// out, and a download ends without an error only if its length and SHA-256 are right.

import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import {
  chunksOf,
  discard,
  type HttpAnswer,
  headerOf,
  isRedirect,
  isSuccess,
  nextHop,
  readWhole,
} from '#platform/http/exchange.ts';
import type { Clock } from '#platform/runtime/clock.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import type { Carrier, Descriptor, OpenBytes } from '../carrier.ts';
import type { MirrorError } from '../mirror-error.ts';
import { checkedUrl, registryRefusalOf } from './answer.ts';
import { unexpectedRegistryAnswer, writeRefused } from './refusal.ts';
import { registryFault, registryNetworkFault } from './registry-fault.ts';
import type { RegistryHttp } from './registry-http.ts';
import { isDigest, type RegistryRepository } from './repository.ts';

export interface RegistryBlobsOptions {
  readonly repository: RegistryRepository;
  readonly http: RegistryHttp;
  readonly clock: Clock;
  readonly transferTimeoutMs: number;
}

const longestRefusal = 16 * 1024;

export function createRegistryBlobs(
  options: RegistryBlobsOptions,
): Pick<Carrier, 'hasBlob' | 'readBlob' | 'writeBlob'> {
  const { repository, http, transferTimeoutMs } = options;
  const { host, name } = repository;

  /** @param asksAgain with GET after a 404, because some registries and proxies answer every HEAD so */
  const hasBlob = async (blob: Descriptor, asksAgain: boolean, signal: AbortSignal): Promise<boolean> => {
    // With the scope of writes: a registry that creates repositories by a push refuses reads before it.
    const request = { url: blobUrl(http, blob), access: 'write' } as const;
    const head = await http.exchange({ ...request, method: 'HEAD' }, signal);
    const { statusCode } = head;
    if (statusCode === 404 && !asksAgain) return false;
    if (statusCode === 200) return [undefined, String(blob.size)].includes(headerOf(head, 'content-length'));
    if (statusCode !== 404 && !isRedirect(head)) throw unexpectedRegistryAnswer(repository, head, 'a blob');
    // The address of a storage is signed for GET.
    const answer = await http.send({ ...request, method: 'GET', headers: { range: 'bytes=0-0' } }, signal);
    discard(answer);
    return answer.statusCode === 200 || answer.statusCode === 206;
  };

  const upload = async (blob: Descriptor, open: OpenBytes, signal: AbortSignal): Promise<void> => {
    const start = new URL('blobs/uploads/', http.apiUrl);
    const begun = await http.exchange({ method: 'POST', url: start, access: 'write' }, signal);
    if (begun.statusCode !== 202) throw writeRefused(repository, begun, 'an upload');
    const url = checkedUrl(start, nextHop(start, begun));
    url.search += `${url.search === '' ? '?' : '&'}digest=${encodeURIComponent(blob.digest)}`;
    const headers = { 'content-type': 'application/octet-stream', 'content-length': String(blob.size) };
    let fault: MirrorError | undefined;
    const report = (error: MirrorError): void => {
      fault = error;
    };
    const openBody = (): Readable => Readable.from(watched(open, blob, report), { objectMode: false });
    const request = { method: 'PUT', url, access: 'write', headers, openBody } as const;
    const done = await http.exchange(request, signal, transferTimeoutMs).catch((error: unknown) => {
      throw signal.aborted ? signal.reason : (fault ?? error);
    });
    if (isSuccess(done)) return;
    // Behind a load balancer another replica may not know the upload.
    if (done.statusCode === 404)
      throw registryFault('Unreachable', `Registry host ${url.host} lost an upload (404)`);
    if (registryRefusalOf(done).codes.includes('DIGEST_INVALID')) throw sourceDamaged(blob);
    throw writeRefused(repository, done, `a blob of ${blob.size} bytes`);
  };

  /** The blob from a byte on. A registry without ranges sends what comes before, too. */
  const openBlob = async (
    blob: Descriptor,
    from: number,
    signal: AbortSignal,
  ): Promise<AsyncIterator<Buffer>> => {
    const headers = from === 0 ? {} : { range: `bytes=${from}-` };
    const answer = await http.send(
      { method: 'GET', url: blobUrl(http, blob), access: 'read', headers },
      signal,
    );
    const { statusCode } = answer;
    const isRest = statusCode === 206 && headerOf(answer, 'content-range')?.startsWith(`bytes ${from}-`);
    if (statusCode === 200 || isRest) return piecesOf(answer, isRest ? 0 : from);
    if (statusCode !== 404)
      throw unexpectedRegistryAnswer(repository, await readWhole(answer, longestRefusal), 'a blob');
    discard(answer);
    throw registryFault('BlobMissing', `Repository ${name} has no blob ${blob.digest}`);
  };

  async function* readBlob(blob: Descriptor, signal: AbortSignal): AsyncGenerator<Buffer> {
    const deadline = options.clock.deadline(transferTimeoutMs, signal);
    const hash = createHash('sha256');
    let received = 0;
    let pieces: AsyncIterator<Buffer> | undefined;
    try {
      for (let failures = 0; ; ) {
        let next: IteratorResult<Buffer>;
        // Not around `yield`: a consumer may throw its own error in there.
        try {
          pieces ??= await openBlob(blob, received, deadline);
          next = await pieces.next();
        } catch (error) {
          if (signal.aborted) throw signal.reason;
          const fault = registryNetworkFault(host, error);
          // The connection broke after the last byte.
          if (received > 0 && received === blob.size) break;
          if (deadline.aborted) throw fault;
          failures += 1;
          await http.pauseAfter(fault, failures, signal);
          pieces = undefined;
          continue;
        }
        if (next.done === true) break;
        received += next.value.length;
        if (received > blob.size) break;
        hash.update(next.value);
        yield next.value;
      }
    } finally {
      await pieces?.return?.();
    }
    if (received === blob.size && `sha256:${hash.digest('hex')}` === blob.digest) return;
    throw registryFault(
      'BlobDamaged',
      `Repository ${name} returned a blob ${blob.digest} of another length or SHA-256`,
    );
  }

  return {
    readBlob,
    hasBlob: (blob, signal) => http.retry(() => hasBlob(blob, true, signal), signal),
    writeBlob: (blob, open, signal) =>
      http.retry(async () => {
        // A blob that is sent again does no harm.
        if (!(await hasBlob(blob, false, signal))) await upload(blob, open, signal);
      }, signal),
  };
}

function blobUrl({ apiUrl }: RegistryHttp, { digest }: Descriptor): URL {
  if (isDigest(digest)) return new URL(`blobs/${digest}`, apiUrl);
  throw registryFault('InvalidReference', 'The digest of a blob is not valid');
}

async function* piecesOf(answer: HttpAnswer, skip: number): AsyncGenerator<Buffer> {
  let left = skip;
  for await (const bytes of chunksOf(answer)) {
    if (bytes.length > left) yield bytes.subarray(left);
    left = Math.max(0, left - bytes.length);
  }
}

/** Counts the source's bytes, and reports what is wrong with them. What the network throws in is not reported. */
async function* watched(
  open: OpenBytes,
  blob: Descriptor,
  report: (fault: MirrorError) => void,
): AsyncGenerator<Uint8Array> {
  const fail = (error?: unknown): MirrorError => {
    const fault = error instanceof PublishableError ? error : sourceDamaged(blob, error);
    report(fault);
    return fault;
  };
  const pieces = open()[Symbol.asyncIterator]();
  let left = blob.size;
  try {
    for (;;) {
      const piece = await pieces.next().catch((error: unknown) => {
        throw fail(error);
      });
      if (piece.done !== true) left -= piece.value.byteLength;
      if (left < 0 || (piece.done === true && left > 0)) throw fail();
      if (piece.done === true) return;
      yield piece.value;
    }
  } finally {
    await pieces.return?.();
  }
}

const sourceDamaged = ({ digest }: Descriptor, cause?: unknown): MirrorError =>
  registryFault('BlobDamaged', `The bytes to upload cannot be read, or are not those of blob ${digest}`, {
    remedy: 'Prepare the bundle again.',
    cause,
  });
