// The access log: one line for every request of the site port, when it has ended. Off by default for the privacy of the
// site's readers. Refuses queries, which may hold typed text or a token.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '#platform/runtime/clock.ts';
import type { Logger } from '#platform/runtime/logger.ts';

export type AccessLog = Pick<Logger, 'info'>;

const longestText = 512;

/** Logs once the answer is sent or the client is gone. */
export function logWhenDone(
  log: AccessLog,
  request: IncomingMessage,
  response: ServerResponse,
  clock: Clock,
): void {
  const beganMs = clock.monotonic();
  const { method, url = '', socket, headers, httpVersion } = request;
  // Where both families are listened on, an address of IPv4 comes dressed as one of IPv6.
  const client = socket.remoteAddress?.replace(/^::ffff:(?=\d+\.)/, '');
  response.once('close', () => {
    log.info(
      {
        method,
        path: pathOf(url),
        status: response.statusCode,
        isWhole: response.writableFinished,
        tookMs: Math.round((clock.monotonic() - beganMs) * 10) / 10,
        client,
        forwardedFor: textOf(headers['x-forwarded-for']),
        host: textOf(headers.host),
        referer: headers.referer === undefined ? undefined : pathOf(headers.referer),
        userAgent: textOf(headers['user-agent']),
        httpVersion,
      },
      'request',
    );
  });
}

/** As received: the reader of the log decides which proxy to trust. */
function textOf(value: string | readonly string[] | undefined): string | undefined {
  return value === undefined ? undefined : [value].flat().join(', ').slice(0, longestText);
}

/** Without the query, because a referer's query may hold text that was typed on another site. */
function pathOf(url: string): string {
  const queryAt = url.search(/[?#]/);
  return (queryAt < 0 ? url : url.slice(0, queryAt)).slice(0, longestText);
}
