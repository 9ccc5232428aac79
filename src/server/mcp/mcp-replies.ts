// Answers to agents that are no answer of the protocol's library: refusals, as the errors of JSON-RPC that clients show. Pure. Refuses to
// repeat anything of a request.

import type { Reply, SiteHeaders } from '../answer/reply.ts';
import { type AgentReply, maxReplyCharacters } from './mcp-task.ts';

/** Of JSON-RPC: an error that the server defines itself. */
const serverError = -32_000;

/** Ends the connection: the rest of a body that was not read is not waited for. */
export function callRefusal(
  status: number,
  sentence: string,
  always: SiteHeaders,
  more: readonly string[] = [],
): Reply {
  const error = { jsonrpc: '2.0', id: null, error: { code: serverError, message: sentence } };
  const closing = ['Connection', 'close', ...more];
  return replyOf({ status, contentType: 'application/json', body: JSON.stringify(error) }, [
    ...closing,
    ...always,
  ]);
}

export function callReply(reply: AgentReply, always: SiteHeaders): Reply {
  if (reply.body.length <= maxReplyCharacters) return replyOf(reply, always);
  return callRefusal(413, 'The answer would be too long. Ask for less in one call.', always);
}

function replyOf({ status, contentType, body }: AgentReply, more: readonly string[]): Reply {
  const type = contentType === undefined ? [] : ['Content-Type', contentType];
  const length = ['Content-Length', `${Buffer.byteLength(body)}`];
  return {
    status,
    headers: [...type, ...length, 'Cache-Control', 'no-store', ...more],
    body: body === '' ? { kind: 'none' } : { kind: 'text', text: body },
  };
}
