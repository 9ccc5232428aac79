// A client that sends exactly the bytes it is given: what browsers never send, somebody does.

import { connect } from 'node:net';

export interface RawAnswer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/**
 * Sends the bytes, and returns everything that came until the server closed the connection.
 *
 * @param manner `and-leave` closes our half at once, so that half a request is not waited for
 */
export async function sendRaw(
  port: number,
  bytes: string | Buffer,
  manner: 'and-wait' | 'and-leave' = 'and-wait',
): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  const parts: Buffer[] = [];
  socket.on('data', (part) => parts.push(part));
  // A server that closes early may reset the connection; what it said before is what counts.
  socket.on('error', () => {});
  socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  if (manner === 'and-leave') socket.end();
  // Not `once`: it rejects at an error.
  await new Promise((resolve) => socket.once('close', resolve));
  return Buffer.concat(parts).toString('latin1');
}

/** One request on a connection of its own. @param headers lines without their end */
export async function ask(
  port: number,
  target: string,
  headers: readonly string[] = [],
  method = 'GET',
): Promise<RawAnswer> {
  const lines = [`${method} ${target} HTTP/1.1`, 'Host: docs.example.com', ...headers, 'Connection: close'];
  return readAnswer(await sendRaw(port, `${lines.join('\r\n')}\r\n\r\n`));
}

export function readAnswer(text: string): RawAnswer {
  const end = text.indexOf('\r\n\r\n');
  const head = end < 0 ? text : text.slice(0, end);
  return {
    status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0),
    head,
    body: end < 0 ? '' : text.slice(end + 4),
  };
}
