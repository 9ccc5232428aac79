// Sends the S3 library's requests over this project's own connections: the address guard, extra CA certificates and
// proxies of links. Refuses redirects, answers larger than a page of a list, and XML with declarations: the library parses
// 1 MiB of them in 50 s. Invariant: a body is streamed for a found object only; all others are bounded.

import type { Dispatcher } from 'undici';
import { isRefusedHost } from '../runtime/http/guarded-lookup.ts';
import { unlessAborted } from '../runtime/time-limit.ts';
import { addressNotAllowed } from './bucket-address.ts';
import { BucketFault } from './bucket-fault.ts';

/** What is read of a request of the library. */
interface LibraryRequest {
  readonly method: string;
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number | undefined;
  readonly path: string;
  readonly query?: Readonly<Record<string, string | readonly string[] | null>> | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Dispatcher.DispatchOptions['body'];
}

interface LibraryResponse {
  readonly statusCode: number;
  readonly headers: Record<string, string>;
  readonly body: unknown;
}

/** The library parses the worst of this size in about 50 ms. A page of 100 keys of 1024 bytes fits. */
const maxAnswerBytes = 192 * 1024;

export interface GuardedHandlerOptions {
  /** The caller closes it. */
  readonly agent: Dispatcher;
  readonly isHttpAllowed: boolean;
  readonly allowPrivateAddresses: boolean;
}

/** For the library's `requestHandler`. */
export class GuardedHandler {
  /** The library reads it to choose headers. */
  readonly metadata = { handlerProtocol: 'http/1.1' };
  readonly #options: GuardedHandlerOptions;

  constructor(options: GuardedHandlerOptions) {
    this.#options = options;
  }

  async handle(
    request: LibraryRequest,
    { abortSignal }: { readonly abortSignal?: unknown } = {},
  ): Promise<{ response: LibraryResponse }> {
    const { agent, isHttpAllowed, allowPrivateAddresses } = this.#options;
    const host = request.port === undefined ? request.hostname : `${request.hostname}:${request.port}`;
    if (request.protocol !== 'https:' && !isHttpAllowed) {
      throw new BucketFault(
        'InvalidAddress',
        `Host ${host} would be asked over plain HTTP, which is not allowed.`,
      );
    }
    if (isRefusedHost(request.hostname, allowPrivateAddresses)) throw addressNotAllowed(host);
    const signal = abortSignal instanceof AbortSignal ? abortSignal : undefined;
    signal?.throwIfAborted();
    // With `request()` of undici and a URL, segments of a key such as `..` would be resolved after they were signed.
    const answer = agent.request({
      origin: `${request.protocol}//${host}`,
      path: request.path + queryOf(request.query ?? {}),
      method: request.method,
      headers: { ...request.headers, 'accept-encoding': 'identity' },
      ...(request.body === undefined ? {} : { body: request.body }),
      ...(signal === undefined ? {} : { signal }),
    });
    // A connection that is being made heeds no signal.
    const { statusCode, headers, body } = await (signal === undefined
      ? answer
      : unlessAborted(answer, signal));
    const isObject = statusCode >= 200 && statusCode < 300 && request.query?.['x-id'] === 'GetObject';
    return {
      response: {
        statusCode,
        headers: singleValues(headers),
        body: isObject ? body : await readBounded(body, host),
      },
    };
  }

  updateHttpClientConfig(): void {}

  httpHandlerConfigs(): Record<string, never> {
    return {};
  }

  /** The agent is the caller's. */
  destroy(): void {}
}

/** A signature covers the decoded query in any order, so that one valid encoding suffices. */
function queryOf(query: NonNullable<LibraryRequest['query']>): string {
  const pairs = Object.entries(query).flatMap(([key, value]) =>
    [value]
      .flat()
      .map((one) => (one === null ? percentEncoded(key) : `${percentEncoded(key)}=${percentEncoded(one)}`)),
  );
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

const percentEncoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);

function singleValues(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Record<string, string> {
  const single: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) single[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value;
  }
  return single;
}

async function readBounded(body: Dispatcher.ResponseData['body'], host: string): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    const bytes: Uint8Array = chunk;
    length += bytes.byteLength;
    if (length > maxAnswerBytes) {
      throw new BucketFault(
        'NotABucket',
        `Host ${host} answered with more than 192 KiB, which no answer of S3 has. Check the endpoint of the bucket.`,
      );
    }
    chunks.push(bytes);
  }
  const whole = Buffer.concat(chunks);
  // S3 sends neither declarations nor comments. Without its body an answer is judged by its status.
  return whole.includes('<!') ? new Uint8Array() : whole;
}
