// A bucket over signed HTTP requests: one attempt is one request, refusals and broken connections become faults, and
// temporary ones are retried with a source that is opened again. Refuses: redirects, plain HTTP unless it is allowed, and
// answers larger than a page of a list. Invariant: the SHA-256 of what is written is part of the signature.

import { createAgent } from '#platform/http/agent.ts';
import { withAttempts } from '#platform/http/attempts.ts';
import { chunksOf, discard, type HttpAnswer, headerOf, retryAfterOf } from '#platform/http/exchange.ts';
import type { Clock } from '#platform/runtime/clock.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { parseHttpDate } from '#platform/wire/retry-after.ts';
import type { Bucket, BucketSettings, ListedObject, NewObject, StoredObject } from './bucket.ts';
import { type BucketRefusal, readListPage, readUploadId } from './bucket-answer.ts';
import type { BucketFaultCode } from './bucket-fault.ts';
import { connectionFault, refusalFault } from './bucket-refusal.ts';
import { type BucketRequests, createBucketRequests, RefusedRequest } from './bucket-requests.ts';
import { libraryCredentials } from './library-credentials.ts';
import { SourceFailure, watchSource } from './object-body.ts';
import { createRequestSigner } from './request-signer.ts';
import { createStsHandler } from './sts-handler.ts';

const defaultAttempts = 4;
const defaultIdleTimeoutMs = 30_000;
const pauses = { firstPauseMs: 500, longestPauseMs: 15_000 };
/** A page of the longest keys is below the bound of an answer. */
const pageSize = 100;
/** Refusals that a service gives by the headers of a write, before it reads the body. */
const writeRefusals = new Set([401, 403, 413, 507]);
/** A service that always names a next page would never end a list. */
const mostPages = 200;

/** @param origin of `readBucketOrigin` */
export function openBucketClient(settings: BucketSettings, origin: string, clock: Clock): Bucket {
  const connection = {
    extraCaPem: settings.extraCaPem,
    proxy: settings.proxy,
    idleTimeoutMs: settings.idleTimeoutMs ?? defaultIdleTimeoutMs,
  };
  const agent = createAgent({ ...connection, allowPrivateAddresses: settings.allowPrivateAddresses });
  // The operator's environment names STS, which a private endpoint of a cloud network may answer.
  const stsAgent = createAgent({ ...connection, allowPrivateAddresses: true });
  const handler = createStsHandler(stsAgent);
  const { bucket, region, attempts = defaultAttempts } = settings;
  const credentials = libraryCredentials(settings.credentials, { region, handler });
  return new BucketClient({
    ...{ bucket, clock, attempts, host: new URL(origin).host },
    requests: createBucketRequests(
      { bucket, endpoint: new URL(origin), isByPath: settings.pathStyle ?? false },
      { agent, signer: createRequestSigner(region, credentials, clock) },
    ),
    close: async () => {
      await Promise.all([agent.destroy(), stsAgent.destroy()]);
    },
  });
}

interface BucketClientParts {
  readonly requests: BucketRequests;
  readonly bucket: string;
  /** Of the endpoint, for messages. */
  readonly host: string;
  readonly clock: Clock;
  readonly attempts: number;
  readonly close: () => Promise<void>;
}

/** One call, which may take several attempts. */
interface Call<T> {
  readonly permission: string;
  readonly signal: AbortSignal;
  /** @throws {RefusedRequest} for an answer that is not a success */
  readonly send: () => Promise<T>;
  /** The result where a refusal is one. */
  readonly resultOf?: (refusal: BucketRefusal) => { readonly result: T } | undefined;
}

type Written = 'written' | 'exists' | 'unsupported' | 'sumRefused';

class BucketClient implements Bucket {
  readonly #parts: BucketClientParts;
  #sendsSum = true;

  constructor(parts: BucketClientParts) {
    this.#parts = parts;
  }

  get name(): string {
    return this.#parts.bucket;
  }

  async head(key: string, signal: AbortSignal): Promise<StoredObject | undefined> {
    return await this.#exchange({
      permission: 's3:GetObject and s3:ListBucket',
      signal,
      send: async () => {
        try {
          const answer = await this.#parts.requests.send({ method: 'HEAD', key }, signal);
          discard(answer);
          const modifiedAt = parseHttpDate(headerOf(answer, 'last-modified') ?? '') ?? 0;
          return { size: Number(headerOf(answer, 'content-length') ?? 0), modifiedAt };
        } catch (error) {
          // The answer to HEAD has no body, and so no code of S3 that says why. One byte is asked for, which is refused too.
          const status = error instanceof RefusedRequest ? error.refusal.status : undefined;
          if (status === 400 || status === 403) {
            discard(
              await this.#parts.requests.send(
                { method: 'GET', key, headers: { range: 'bytes=0-0' } },
                signal,
              ),
            );
          }
          throw error;
        }
      },
      resultOf: ({ status }) => (status === 404 ? { result: undefined } : undefined),
    });
  }

  async get(key: string, signal: AbortSignal): Promise<AsyncIterable<Buffer> | undefined> {
    return await this.#exchange<AsyncIterable<Buffer> | undefined>({
      permission: 's3:GetObject and s3:ListBucket',
      signal,
      send: async () =>
        this.#bytesOf(await this.#parts.requests.send({ method: 'GET', key }, signal), signal),
      resultOf: ({ code }) => (code === 'NoSuchKey' ? { result: undefined } : undefined),
    });
  }

  /** Must be read to its end, or left early; until then it holds a connection. */
  async *#bytesOf(answer: HttpAnswer, signal: AbortSignal): AsyncGenerator<Buffer> {
    try {
      yield* chunksOf(answer);
    } catch (error) {
      signal.throwIfAborted();
      throw connectionFault(this.#parts, error);
    }
  }

  async put(object: NewObject, signal: AbortSignal): Promise<'written' | 'exists'> {
    if (object.replaces !== true) {
      const result = await this.#writeWithSum(object, '*', signal);
      if (result !== 'unsupported') return result;
      if ((await this.head(object.key, signal)) !== undefined) return 'exists';
    }
    await this.#writeWithSum(object, undefined, signal);
    return 'written';
  }

  /** Without a sum where the service knows none. */
  async #writeWithSum(
    object: NewObject,
    ifNoneMatch: '*' | undefined,
    signal: AbortSignal,
  ): Promise<'written' | 'exists' | 'unsupported'> {
    const result = await this.#write(object, ifNoneMatch, signal);
    if (result !== 'sumRefused') return result;
    this.#sendsSum = false;
    return this.#writeWithSum(object, ifNoneMatch, signal);
  }

  async #write(object: NewObject, ifNoneMatch: '*' | undefined, signal: AbortSignal): Promise<Written> {
    const { key, sha256 } = object;
    const sendsSum = this.#sendsSum;
    let brokenOff = 0;
    const headers = {
      'content-type': object.contentType,
      'content-length': String(object.size),
      // A bucket with a default retention takes no object without one.
      ...(sendsSum && { 'x-amz-checksum-sha256': Buffer.from(sha256, 'hex').toString('base64') }),
      ...(ifNoneMatch !== undefined && { 'if-none-match': ifNoneMatch }),
    };
    try {
      return await this.#exchange<Written>({
        permission: 's3:PutObject',
        signal,
        send: async () => {
          const source = watchSource(object.open);
          try {
            discard(
              await this.#parts.requests.send(
                { method: 'PUT', key, headers, sha256, body: source.body },
                signal,
              ),
            );
            return 'written';
          } catch (error) {
            if (source.failure !== undefined) throw source.failure;
            brokenOff += error instanceof RefusedRequest ? 0 : 1;
            if (brokenOff === this.#parts.attempts) await this.#findWriteRefusal(key, signal);
            throw error;
          } finally {
            source.body.destroy();
          }
        },
        resultOf: ({ status, code, text }) => {
          const isUnknown = status === 501 || code === 'NotImplemented';
          const namesSum = /checksum/i.test(text) && (isUnknown || code === 'InvalidArgument');
          if (sendsSum && (namesSum || (isUnknown && ifNoneMatch === undefined))) {
            return { result: 'sumRefused' };
          }
          if (ifNoneMatch === undefined) return undefined;
          if (status === 412) return { result: 'exists' };
          return isUnknown ? { result: 'unsupported' } : undefined;
        },
      });
    } catch (error) {
      throw error instanceof SourceFailure ? error.cause : error;
    }
  }

  /**
   * A service that refuses a write and closes at once loses its answer to the bytes still on their way. The start of an
   * upload in parts needs the same permission, and has no body.
   *
   * @throws {RefusedRequest} if the service refuses this too
   */
  async #findWriteRefusal(key: string, signal: AbortSignal): Promise<void> {
    const begun = await this.#parts.requests
      .whole({ method: 'POST', key, query: { uploads: '' } }, signal)
      .catch((error: unknown) => {
        if (error instanceof RefusedRequest && writeRefusals.has(error.refusal.status)) throw error;
        return undefined;
      });
    const uploadId = begun && readUploadId(begun);
    if (uploadId === undefined) return;
    await this.#parts.requests.whole({ method: 'DELETE', key, query: { uploadId } }, signal).catch(() => {});
  }

  async *list(prefix: string, signal: AbortSignal): AsyncGenerator<ListedObject> {
    const { bucket, host } = this.#parts;
    let token: string | undefined;
    for (let page = 0; page < mostPages; page += 1) {
      const query = {
        ...{ 'list-type': '2', 'max-keys': String(pageSize), prefix },
        ...(token !== undefined && { 'continuation-token': token }),
      };
      const read = await this.#exchange({
        permission: 's3:ListBucket',
        signal,
        send: async () => readListPage(await this.#parts.requests.whole({ method: 'GET', query }, signal)),
      });
      // A page of another kind, such as a sign-in, would otherwise be an empty list, and what it hides be removed.
      if (read === undefined || (read.hasMore && !read.next)) {
        throw notABucket(
          `Bucket ${bucket} at ${host} did not answer with a list of S3. Check the endpoint and the bucket.`,
        );
      }
      for (const object of read.objects) if (object.key.startsWith(prefix)) yield object;
      if (!read.hasMore) return;
      token = read.next;
    }
    throw notABucket(
      `Bucket ${bucket} at ${host} lists more than ${mostPages * pageSize} objects under the prefix. Use another prefix.`,
    );
  }

  async delete(key: string, signal: AbortSignal): Promise<void> {
    await this.#exchange<void>({
      permission: 's3:DeleteObject',
      signal,
      send: async () => {
        await this.#parts.requests.whole({ method: 'DELETE', key }, signal);
      },
      resultOf: ({ code }) => (code === 'NoSuchKey' ? { result: undefined } : undefined),
    });
  }

  close(): Promise<void> {
    return this.#parts.close();
  }

  async #exchange<T>({ permission, signal, send, resultOf }: Call<T>): Promise<T> {
    const { bucket, host, clock, attempts, requests } = this.#parts;
    const asked = { bucket, host, permission };
    const attempt = async (isClockCorrected: boolean): Promise<T> => {
      try {
        return await send();
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof SourceFailure) throw error;
        if (!(error instanceof RefusedRequest)) throw connectionFault(asked, error);
        const { answer, refusal } = error;
        const known = resultOf?.(refusal);
        if (known !== undefined) return known.result;
        const fault = refusalFault(asked, refusal, retryAfterOf(answer, clock.now()));
        // Once: a service whose clock differs from its own answers would be asked for ever.
        const isSkewed = fault.code === 'ClockSkewed' && !isClockCorrected;
        if (isSkewed && requests.correctClock(answer)) return await attempt(true);
        throw fault;
      }
    };
    return await withAttempts(() => attempt(false), { ...pauses, most: attempts }, clock, signal);
  }
}

const notABucket = (message: string): PublishableError<BucketFaultCode> =>
  new PublishableError('NotABucket', message);
