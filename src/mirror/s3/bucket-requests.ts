// One signed request to a bucket and its answer. Owns where the bucket is, the encoding of keys, and the bound of answers.
// Refuses redirects. Invariant: a body is streamed for a found object only; all others are bounded.

import type { HttpAgent } from '#platform/http/agent.ts';
import {
  type HttpAnswer,
  isSuccess,
  readWhole,
  serverDateOf,
  type WholeAnswer,
} from '#platform/http/exchange.ts';
import { userAgent } from '#platform/runtime/version.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { type BucketRefusal, longestBucketAnswerBytes, readBucketRefusal } from './bucket-answer.ts';
import type { WatchedSource } from './object-body.ts';
import type { RequestSigner } from './request-signer.ts';

const emptySha256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

export interface SignedRequest {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  /** Absent: the bucket itself. */
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Hex digits, of the body. */
  readonly sha256?: string;
  readonly body?: WatchedSource['body'];
}

/** Of one attempt, before it is known whether the refusal is a result. */
export class RefusedRequest extends Error {
  readonly answer: WholeAnswer;
  readonly refusal: BucketRefusal;

  constructor(answer: WholeAnswer) {
    super('the request was refused');
    this.answer = answer;
    this.refusal = readBucketRefusal(answer);
  }
}

export interface BucketRequests {
  /** @throws {RefusedRequest} for an answer that is not a success; the connection's error; the signal's reason */
  send(request: SignedRequest, signal: AbortSignal): Promise<HttpAnswer>;
  /** As `send`, with the whole body. */
  whole(request: SignedRequest, signal: AbortSignal): Promise<WholeAnswer>;
  /** @returns whether the service's clock, now taken over, differs from the one before */
  correctClock(answer: WholeAnswer): boolean;
}

interface BucketPlace {
  readonly bucket: string;
  readonly endpoint: URL;
  readonly isByPath: boolean;
}

export function createBucketRequests(
  place: BucketPlace,
  { agent, signer }: { readonly agent: HttpAgent; readonly signer: RequestSigner },
): BucketRequests {
  const { origin, root } = rootOf(place);
  const bounded = (answer: WholeAnswer): WholeAnswer => {
    if (!answer.isCut || answer.bytes.length < longestBucketAnswerBytes) return answer;
    throw new PublishableError(
      'NotABucket',
      `Host ${place.endpoint.host} answered with more than 192 KiB, which no answer of S3 has. Check the endpoint of the bucket.`,
    );
  };
  const send: BucketRequests['send'] = async (request, signal) => {
    const { method, key, query = {}, body, sha256 = emptySha256 } = request;
    const path = `${root}/${key === undefined ? '' : key.split('/').map(percentEncoded).join('/')}`;
    const headers = await signer.sign({
      ...{ method, origin, path, query },
      headers: { ...request.headers, 'x-amz-content-sha256': sha256 },
    });
    const pairs = Object.entries(query).map(([name, value]) => `${name}=${percentEncoded(value)}`);
    const sent = {
      ...{ method, body, url: origin, path: pairs.length === 0 ? path : `${path}?${pairs.join('&')}` },
      headers: { ...headers, 'user-agent': userAgent, 'accept-encoding': 'identity' },
    };
    const answer = await agent.send(sent, signal);
    if (isSuccess(answer)) return answer;
    throw new RefusedRequest(bounded(await readWhole(answer, longestBucketAnswerBytes, signal)));
  };
  return {
    send,
    whole: async (request, signal) =>
      bounded(await readWhole(await send(request, signal), longestBucketAnswerBytes, signal)),
    correctClock: (answer) => signer.correctClock(serverDateOf(answer)),
  };
}

/** A certificate for all buckets of a host covers no name with a further dot. */
function rootOf({ bucket, endpoint, isByPath }: BucketPlace): {
  readonly origin: URL;
  readonly root: string;
} {
  if (isByPath || bucket.includes('.')) return { origin: endpoint, root: `/${bucket}` };
  return { origin: new URL(`${endpoint.protocol}//${bucket}.${endpoint.host}`), root: '' };
}

/** As a signature wants it (RFC 3986). */
const percentEncoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
