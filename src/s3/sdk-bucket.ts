// A bucket over the S3 library: one attempt is one request, errors become faults, and temporary ones are retried here.
// Refuses the library's own retries, which cannot re-open a body. Invariant: the SHA-256 of what is written is part of
// the signature.

import { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { withAttempts } from '../http/attempts.ts';
import type { Clock } from '../runtime/clock.ts';
import { PublishableError } from '../wire/publishable-error.ts';
import type { Bucket, BucketSettings, ListedObject, NewObject, StoredObject } from './bucket.ts';
import { createLibraryClient } from './library-client.ts';
import { answerFault, connectionFault, type RefusedAnswer, readRefusedAnswer } from './library-fault.ts';
import { readBody, SourceFailure, signContent, watchSource } from './object-body.ts';

const defaultAttempts = 4;
const pauses = { firstPauseMs: 500, longestPauseMs: 15_000 };
/** A page of the longest keys is below what `GuardedHandler` takes. */
const pageSize = 100;
/** Refusals that a service gives by the headers of a write, before it reads the body. */
const writeRefusals = new Set([401, 403, 413, 507]);
/** A service that always names a next page would never end a list. */
const mostPages = 200;

/** @param origin of `readBucketOrigin` */
export function createSdkBucket(settings: BucketSettings, origin: string, clock: Clock): Bucket {
  const { client, close } = createLibraryClient(settings, origin);
  const { bucket, attempts = defaultAttempts } = settings;
  return new SdkBucket({ client, bucket, host: new URL(origin).host, clock, attempts, close });
}

interface SdkBucketParts {
  readonly client: S3Client;
  readonly bucket: string;
  readonly host: string;
  readonly clock: Clock;
  readonly attempts: number;
  readonly close: () => Promise<void>;
}

/** One call, which may take several attempts. */
interface Call<T> {
  readonly permission: string;
  readonly signal: AbortSignal;
  readonly send: () => Promise<T>;
  /** The result where a refusal is one. */
  readonly resultOf?: (answer: RefusedAnswer) => { readonly result: T } | undefined;
}

type Written = 'written' | 'exists' | 'unsupported' | 'sumRefused';

class SdkBucket implements Bucket {
  readonly #parts: SdkBucketParts;
  #sendsSum = true;

  constructor(parts: SdkBucketParts) {
    this.#parts = parts;
  }

  get name(): string {
    return this.#parts.bucket;
  }

  async head(key: string, signal: AbortSignal): Promise<StoredObject | undefined> {
    const { client, bucket } = this.#parts;
    return await this.#exchange({
      permission: 's3:GetObject and s3:ListBucket',
      signal,
      send: async () => {
        try {
          const command = new HeadObjectCommand({ Bucket: bucket, Key: key });
          const found = await client.send(command, { abortSignal: signal });
          return { size: found.ContentLength ?? 0, modifiedAt: found.LastModified?.getTime() ?? 0 };
        } catch (error) {
          // The answer to HEAD has no body, and so no code of S3 that says why.
          const status = readRefusedAnswer(error)?.status;
          if (status === 400 || status === 403) await this.#findReason(key, signal);
          throw error;
        }
      },
      resultOf: ({ status }) => (status === 404 ? { result: undefined } : undefined),
    });
  }

  /** @throws the library's error if the service refuses to hand out the first byte too */
  async #findReason(key: string, signal: AbortSignal): Promise<void> {
    const { client, bucket } = this.#parts;
    const command = new GetObjectCommand({ Bucket: bucket, Key: key, Range: 'bytes=0-0' });
    const { Body: body } = await client.send(command, { abortSignal: signal });
    if (body instanceof Readable) body.on('error', () => {}).destroy();
  }

  async get(key: string, signal: AbortSignal): Promise<AsyncIterable<Buffer> | undefined> {
    const { client, bucket, host } = this.#parts;
    return await this.#exchange<AsyncIterable<Buffer> | undefined>({
      permission: 's3:GetObject and s3:ListBucket',
      signal,
      send: async () => {
        const command = new GetObjectCommand({ Bucket: bucket, Key: key });
        const { Body: body } = await client.send(command, { abortSignal: signal });
        if (!(body instanceof Readable)) throw new TypeError('the S3 library gave no stream');
        // Without a listener, an abort before the first read would end the process.
        body.on('error', () => {});
        return readBody(body, { bucket, host }, signal);
      },
      resultOf: ({ code }) => (code === 'NoSuchKey' ? { result: undefined } : undefined),
    });
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
    const { client, bucket, attempts } = this.#parts;
    const sendsSum = this.#sendsSum;
    let brokenOff = 0;
    try {
      return await this.#exchange<Written>({
        permission: 's3:PutObject',
        signal,
        send: async () => {
          const source = watchSource(object.open);
          const command = new PutObjectCommand({
            Bucket: bucket,
            Key: object.key,
            Body: source.body,
            ContentLength: object.size,
            ContentType: object.contentType,
            // A bucket with a default retention takes no object without one.
            ...(sendsSum && { ChecksumSHA256: Buffer.from(object.sha256, 'hex').toString('base64') }),
            IfNoneMatch: ifNoneMatch,
          });
          signContent(command, object.sha256);
          try {
            await client.send(command, { abortSignal: signal });
            return 'written';
          } catch (error) {
            if (source.failure !== undefined) throw source.failure;
            brokenOff += readRefusedAnswer(error) === undefined ? 1 : 0;
            if (brokenOff === attempts) await this.#findWriteRefusal(object.key, signal);
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
   * @throws the library's error if the service refuses this too
   */
  async #findWriteRefusal(key: string, signal: AbortSignal): Promise<void> {
    const { client, bucket } = this.#parts;
    const object = { Bucket: bucket, Key: key };
    const options = { abortSignal: signal };
    const begun = await client
      .send(new CreateMultipartUploadCommand(object), options)
      .catch((error: unknown) => {
        if (writeRefusals.has(readRefusedAnswer(error)?.status ?? 0)) throw error;
        return undefined;
      });
    if (begun?.UploadId === undefined) return;
    const command = new AbortMultipartUploadCommand({ ...object, UploadId: begun.UploadId });
    await client.send(command, options).catch(() => {});
  }

  async *list(prefix: string, signal: AbortSignal): AsyncGenerator<ListedObject> {
    const { client, bucket, host } = this.#parts;
    let token: string | undefined;
    for (let page = 0; page < mostPages; page += 1) {
      const command = new ListObjectsV2Command({
        Bucket: bucket,
        Prefix: prefix,
        MaxKeys: pageSize,
        ContinuationToken: token,
      });
      const {
        Contents: objects = [],
        IsTruncated: hasMore,
        NextContinuationToken: next,
      } = await this.#exchange({
        permission: 's3:ListBucket',
        signal,
        send: () => client.send(command, { abortSignal: signal }),
      });
      // A page of another kind, such as a sign-in, would otherwise be an empty list, and what it hides be removed.
      if (hasMore === undefined || (hasMore && !next)) {
        throw new PublishableError(
          'NotABucket',
          `Bucket ${bucket} at ${host} did not answer with a list of S3. Check the endpoint and the bucket.`,
        );
      }
      for (const { Key: key, Size: size = 0, LastModified: modified } of objects) {
        if (key?.startsWith(prefix) === true) yield { key, size, modifiedAt: modified?.getTime() ?? 0 };
      }
      if (!hasMore) return;
      token = next;
    }
    throw new PublishableError(
      'NotABucket',
      `Bucket ${bucket} at ${host} lists more than ${mostPages * pageSize} objects under the prefix. Use another prefix.`,
    );
  }

  async delete(key: string, signal: AbortSignal): Promise<void> {
    const { client, bucket } = this.#parts;
    await this.#exchange<void>({
      permission: 's3:DeleteObject',
      signal,
      send: async () => {
        await client.send(new DeleteObjectCommand({ Bucket: bucket, Key: key }), { abortSignal: signal });
      },
      resultOf: ({ code }) => (code === 'NoSuchKey' ? { result: undefined } : undefined),
    });
  }

  close(): Promise<void> {
    return this.#parts.close();
  }

  async #exchange<T>({ permission, signal, send, resultOf }: Call<T>): Promise<T> {
    const { bucket, host, clock, attempts } = this.#parts;
    const asked = { bucket, host, permission };
    const attempt = async (isClockCorrected: boolean): Promise<T> => {
      try {
        return await send();
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof SourceFailure) throw error;
        const answer = readRefusedAnswer(error);
        if (answer === undefined) throw connectionFault(asked, error);
        const known = resultOf?.(answer);
        if (known !== undefined) return known.result;
        const fault = answerFault(asked, answer, clock.now());
        // Once: a service whose clock differs from its own answers would be asked for ever.
        if (fault.code === 'ClockSkewed' && answer.isClockCorrected && !isClockCorrected) {
          return await attempt(true);
        }
        throw fault;
      }
    };
    return await withAttempts(() => attempt(false), { ...pauses, most: attempts }, clock, signal);
  }
}
