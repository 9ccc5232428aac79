// Random calls of agents: JSON-RPC that is whole, bent or broken, in each revision of the protocol, under names and origins of the site and
// of others. How many is the caller's.

import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import * as fc from '../../support/properties.ts';

interface Call {
  readonly host: string;
  readonly origin: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const ownHosts = ['localhost', 'localhost:8080', 'docs.example.com', 'DOCS.example.com:443', '127.0.0.1'];
const otherHosts = [
  'evil.example',
  'docs.example.com.evil.example',
  'localhost.evil.example',
  '127.1',
  'a@localhost',
  '',
];
const ownOrigins = [undefined, undefined, 'https://docs.example.com', 'http://localhost:6274'];
const otherOrigins = [
  'null',
  'https://evil.example',
  'https://docs.example.com@evil.example',
  'docs.example.com',
];

const oddText = fc.oneof(
  fc.constantFrom(
    '',
    '/',
    '/guide/install',
    '/guide/long#x',
    '../../etc/passwd',
    '%00',
    '%ff',
    'https://evil.example/',
    'quokka',
    '__proto__',
  ),
  fc.string({ maxLength: 40 }),
  fc.constant('x'.repeat(3000)),
);
const oddValue = fc.oneof(
  oddText,
  fc.integer(),
  fc.double(),
  fc.boolean(),
  fc.constant(null),
  fc.jsonValue({ maxDepth: 3 }),
);
const toolArguments = fc.oneof(
  fc.record({ query: oddText, limit: oddValue, language: oddValue }, { requiredKeys: [] }),
  fc.record({ address: oddText, from: oddValue, length: oddValue }, { requiredKeys: [] }),
  fc.record(
    { below: oddText, from: fc.integer({ min: -5, max: 50 }), limit: fc.integer({ min: -5, max: 250 }) },
    { requiredKeys: [] },
  ),
  oddValue,
);
const meta = fc.oneof(
  fc.constant({
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'fuzz', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  }),
  fc.record(
    { 'io.modelcontextprotocol/protocolVersion': oddValue, progressToken: oddValue },
    { requiredKeys: [] },
  ),
);
const params = fc.oneof(
  fc.record(
    {
      name: fc.oneof(fc.constantFrom('search', 'read_page', 'list_pages'), oddValue),
      arguments: toolArguments,
      _meta: meta,
    },
    { requiredKeys: [] },
  ),
  fc.record(
    {
      protocolVersion: fc.oneof(fc.constantFrom('2025-03-26', '2026-07-28'), oddValue),
      capabilities: fc.constant({}),
      clientInfo: fc.constant({ name: 'f', version: '1' }),
    },
    { requiredKeys: [] },
  ),
  oddValue,
);
const method = fc.oneof(
  fc.constantFrom(
    'tools/call',
    'tools/call',
    'tools/call',
    'tools/list',
    'initialize',
    'ping',
    'server/discover',
  ),
  fc.constantFrom(
    'subscriptions/listen',
    'resources/read',
    'logging/setLevel',
    'notifications/initialized',
    'notifications/cancelled',
  ),
  oddText,
);
const message = fc.record(
  {
    jsonrpc: fc.oneof({ weight: 9, arbitrary: fc.constant('2.0') }, { weight: 1, arbitrary: oddValue }),
    id: fc.oneof(fc.integer(), oddText, oddValue),
    method,
    params,
  },
  { requiredKeys: ['jsonrpc'] },
);
const json = fc
  .oneof(message, message, message, fc.array(message, { maxLength: 14 }), fc.jsonValue())
  .map((value) => JSON.stringify(value));
const body = fc.oneof(
  { weight: 8, arbitrary: json },
  { weight: 1, arbitrary: fc.tuple(json, fc.nat(200)).map(([text, at]) => text.slice(0, at)) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '',
      '{',
      `${'['.repeat(20_000)}`,
      'null',
      '\u{feff}{}',
      `"${'x'.repeat(60_000)}"`,
    ),
  },
);
const headers = fc.record(
  {
    'content-type': fc.constantFrom(
      'application/json',
      'application/json',
      'application/json; charset=utf-8',
      'text/plain',
      '',
    ),
    accept: fc.constantFrom(
      'application/json, text/event-stream',
      'application/json, text/event-stream',
      '*/*',
      'text/html',
    ),
    'mcp-protocol-version': fc.constantFrom('2025-03-26', '2025-06-18', '2026-07-28', '1', 'x'.repeat(500)),
    'mcp-method': fc.constantFrom('tools/call', 'tools/list', 'server/discover', 'x'),
    'mcp-name': fc.constantFrom('search', 'read_page', '=?base64?x?='),
    'mcp-session-id': fc.constant('a-session'),
    'x-forwarded-host': fc.constantFrom('localhost', 'evil.example'),
  },
  { requiredKeys: ['content-type', 'accept'] },
);
const call: fc.Arbitrary<Call> = fc.record({
  host: fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom(...ownHosts) },
    { weight: 1, arbitrary: fc.constantFrom(...otherHosts) },
  ),
  origin: fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom(...ownOrigins) },
    { weight: 1, arbitrary: fc.constantFrom(...otherOrigins) },
  ),
  headers,
  body,
});

/** Fewer than the server answers at once. */
const atOnce = 6;

/**
 * Sends calls; each is answered below 500, and by the protocol's library only under a name and an origin of the site.
 *
 * @param port of a server with `--mcp-hosts=docs.example.com`
 * @returns how many calls got each status
 */
export async function fuzzCalls(
  port: number,
  count: number,
  seed: number,
): Promise<ReadonlyMap<number, number>> {
  const agent = new Agent({ keepAlive: true, maxSockets: atOnce });
  const statuses = new Map<number, number>();
  // A stream of values: a hundred thousand at once would take a gigabyte.
  for (let done = 0; done < count; done += 600) {
    const calls = fc.sample(call, { seed: seed + done, numRuns: Math.min(600, count - done) });
    for (let at = 0; at < calls.length; at += atOnce) {
      await Promise.all(
        calls.slice(at, at + atOnce).map(async (sent) => {
          const status = await post(agent, port, sent);
          judge(status, sent);
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
        }),
      );
    }
  }
  agent.destroy();
  return statuses;
}

function judge(status: number, sent: Call): void {
  const said = `${status} for ${JSON.stringify(sent).slice(0, 2000)}`;
  assert.ok(status >= 200 && status < 500, said);
  const isOwnName = ownHosts.includes(sent.host);
  if (!isOwnName) assert.ok(status === 403 || status === 400, said);
  else if (sent.origin !== undefined && otherOrigins.includes(sent.origin)) assert.equal(status, 403, said);
  else assert.notEqual(status, 403, said);
}

function post(
  agent: Agent,
  port: number,
  { host, origin, headers: fields, body: text }: Call,
): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const sent = request(
    {
      ...{ agent, port, host: '127.0.0.1', path: '/mcp', method: 'POST', setHost: false },
      headers: {
        ...fields,
        host,
        ...(origin === undefined ? {} : { origin }),
        'content-length': Buffer.byteLength(text),
      },
    },
    (response) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode ?? 0)).once('error', reject);
    },
  );
  sent.once('error', reject);
  sent.end(text);
  return promise;
}
