// Sends the S3 library's requests over this project's own connections: the address guard, extra CA certificates and
// proxies of links. Refuses redirects, answers larger than a page of a list, and XML with declarations: the library parses
// 1 MiB of them in 50 s. Invariant: a body is streamed for a found object only; all others are bounded.

import type { HttpAgent } from '../http/agent.ts';
import {
  type HttpHead,
  type HttpRequest,
  isSuccess,
  listHeaderOf,
  readWhole,
  type WholeAnswer,
} from '../http/exchange.ts';
import { PublishableError } from '../wire/publishable-error.ts';

/** What is read of a request of the library. */
interface LibraryRequest {
  readonly method: string;
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number | undefined;
  readonly path: string;
  readonly query?: Readonly<Record<string, string | readonly string[] | null>> | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: HttpRequest['body'];
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
  readonly agent: HttpAgent;
  readonly isHttpAllowed: boolean;
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
    const { agent, isHttpAllowed } = this.#options;
    const host = request.port === undefined ? request.hostname : `${request.hostname}:${request.port}`;
    if (request.protocol !== 'https:' && !isHttpAllowed) {
      throw new PublishableError(
        'InvalidAddress',
        `Host ${host} would be asked over plain HTTP, which is not allowed.`,
      );
    }
    const signal = abortSignal instanceof AbortSignal ? abortSignal : new AbortController().signal;
    const sent = {
      ...{ method: request.method, body: request.body },
      // Segments of a key such as `..` are signed, and so they stay.
      ...{ url: new URL(`${request.protocol}//${host}`), path: request.path + queryOf(request.query ?? {}) },
      headers: { ...request.headers, 'accept-encoding': 'identity' },
    };
    const answer = await agent.send(sent, signal);
    const isObject = isSuccess(answer) && request.query?.['x-id'] === 'GetObject';
    const body = isObject ? answer.body : checkedBody(await readWhole(answer, maxAnswerBytes, signal), host);
    return { response: { statusCode: answer.statusCode, headers: singleValues(answer), body } };
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

function singleValues(answer: HttpHead): Record<string, string> {
  const names = Object.keys(answer.headers);
  return Object.fromEntries(names.map((name) => [name, listHeaderOf(answer, name) ?? '']));
}

function checkedBody({ bytes, isCut }: WholeAnswer, host: string): Uint8Array {
  if (isCut) {
    throw new PublishableError(
      'NotABucket',
      `Host ${host} answered with more than 192 KiB, which no answer of S3 has. Check the endpoint of the bucket.`,
    );
  }
  // S3 sends neither declarations nor comments. Without its body an answer is judged by its status.
  return bytes.includes('<!') ? new Uint8Array() : bytes;
}
