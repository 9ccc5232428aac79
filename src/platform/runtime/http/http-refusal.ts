// Answers to bytes that are not a valid request: which status, and how it is written without a response of Node.
// Refuses: a body, and to keep the connection.

import type { Duplex } from 'node:stream';

/** An answer to bytes that are not a valid request. */
export interface HttpRefusal {
  readonly status: number;
  readonly reason: string;
  /** Further fields, with their line ends. */
  readonly more?: string;
}

const tooLate: HttpRefusal = { status: 408, reason: 'Request Timeout' };
const malformed: HttpRefusal = { status: 400, reason: 'Bad Request' };
const refusals: Readonly<Record<string, HttpRefusal>> = {
  HPE_HEADER_OVERFLOW: { status: 431, reason: 'Request Header Fields Too Large' },
  ERR_HTTP_REQUEST_TIMEOUT: tooLate,
};

/** @param code of Node's parser or timer */
export function httpRefusalOf(code: string | undefined): HttpRefusal {
  return refusals[code ?? ''] ?? malformed;
}

/** Ends the local half of the connection. */
export function writeRefusal(
  socket: Duplex,
  { status, reason, more = '' }: HttpRefusal,
  nowMs: number,
): void {
  // RFC 9110 §6.6.1 wants a date in every refusal too.
  const fields = `Date: ${new Date(nowMs).toUTCString()}\r\nCache-Control: no-store\r\nConnection: close`;
  socket.end(`HTTP/1.1 ${status} ${reason}\r\n${more}${fields}\r\nContent-Length: 0\r\n\r\n`);
}
