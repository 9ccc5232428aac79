// Sends the requests of the library's STS client over this project's own connections: proxies and extra CA certificates.
// Refuses answers without a bound, and XML with declarations, which the library parses for seconds.

import type { HttpAgent } from '#platform/http/agent.ts';
import { type HttpRequest, listHeaderOf, readWhole } from '#platform/http/exchange.ts';
import { longestBucketAnswerBytes } from './bucket-answer.ts';

/** What is read of a request of the library. */
interface LibraryRequest {
  readonly method: string;
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number | undefined;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: HttpRequest['body'];
}

/** For the library's `requestHandler`. @param agent the caller closes it */
export function createStsHandler(agent: HttpAgent) {
  return {
    /** The library reads it to choose headers. */
    metadata: { handlerProtocol: 'http/1.1' },
    handle: async (
      { method, protocol, hostname, port, path, headers, body }: LibraryRequest,
      { abortSignal }: { readonly abortSignal?: unknown } = {},
    ) => {
      const signal = abortSignal instanceof AbortSignal ? abortSignal : new AbortController().signal;
      const url = new URL(`${protocol}//${hostname}${port === undefined ? '' : `:${port}`}`);
      const sent = { method, url, path, body, headers: { ...headers, 'accept-encoding': 'identity' } };
      const answer = await readWhole(await agent.send(sent, signal), longestBucketAnswerBytes, signal);
      const names = Object.keys(answer.headers);
      const single = Object.fromEntries(names.map((name) => [name, listHeaderOf(answer, name) ?? '']));
      const isRead = !answer.isCut && !answer.bytes.includes('<!');
      const response = { statusCode: answer.statusCode, headers: single };
      return { response: { ...response, body: isRead ? answer.bytes : new Uint8Array() } };
    },
    updateHttpClientConfig: () => {},
    httpHandlerConfigs: () => ({}),
    destroy: () => {},
  };
}

export type StsHandler = ReturnType<typeof createStsHandler>;
