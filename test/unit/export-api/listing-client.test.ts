// Pages of conversations that are large or hostile: what is parsed is bounded, in a thread, and comes back as from a small page.

import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import { after, afterEach, before, test } from 'node:test';
import { ExportApiError } from '#export-api/answers.ts';
import { readConversationPage } from '#export-api/conversation-answers.ts';
import type { ExchangeOptions } from '#export-api/exchange.ts';
import { createListingClient } from '#export-api/listing-client.ts';
import { countValues, mostValues, readListing } from '#export-api/listing-run.ts';
import { systemClock } from '#platform/runtime/clock.ts';
import { createWholeClient, type WholeClient } from '../../support/export-api-client.ts';
import { openAgent } from '../../support/open-agent.ts';
import * as fc from '../../support/properties.ts';

const never = new AbortController().signal;
const query = { projectId: 'p', limit: 1000 };
const common = {
  key: 'svc_topsecret',
  clock: systemClock,
  timeoutMs: 60_000,
  userAgent: 'test/1',
};
let server: Server;
let options: Omit<ExchangeOptions, 'agent'>;
let client: WholeClient;
let sent = '';

before(async () => {
  server = createServer((_request, response) => response.end(sent));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  options = { ...common, baseUrl: `http://127.0.0.1:${address.port}` };
  client = createWholeClient(options);
});
after(async () => {
  server.close();
});
afterEach(() => {
  sent = '';
});

/** As large as the documentation allows: 1,000 conversations with long answers. */
const conversations = Array.from({ length: 1000 }, (_none, at) => ({
  id: `c${at}`,
  timestamp: at % 2 === 0 ? '2026-11-01T10:00:00Z' : 1_793_527_200,
  query: `How do I log in? "${at}" {[,`,
  response: 'With a key. ÄÖÜ \\ '.repeat(200),
  sources: [{ title: 'Login', url: 'https://docs.example.com/login' }],
}));
const page = { conversations, nextCursor: 'C1', hasMore: true };

test('a page of megabytes is the same as one that is parsed at once', async () => {
  sent = JSON.stringify(page);
  assert.ok(sent.length > 3_000_000);
  assert.deepEqual(await client.listConversations(query, never), readConversationPage(page));
});

test('rows of a large page come in pieces, in order', async () => {
  const pieces: number[] = [];
  const ids: (string | undefined)[] = [];
  const end = await readListing(Buffer.from(JSON.stringify(page)), async (rows) => {
    pieces.push(rows.length);
    ids.push(...rows.map(({ id }) => id));
  });
  assert.deepEqual(end, { kind: 'more', cursor: 'C1' });
  assert.ok(pieces.length > 2, `${pieces.length} pieces`);
  assert.deepEqual(
    ids,
    conversations.map(({ id }) => id),
  );
});

for (const [name, body, message] of [
  ['sixty megabytes of empty lists', () => `{"conversations":[${'[],'.repeat(20_000_000)}[]]}`, /values/],
  ['sixty megabytes of brackets', () => `{"conversations":${'['.repeat(60_000_000)}`, /values/],
  [
    'a large page that is not JSON',
    () => `{"conversations":["${'x'.repeat(200_000)}`,
    /a large body and without conversations/,
  ],
  [
    'a large page without conversations',
    () => JSON.stringify({ rows: conversations }),
    /without conversations/,
  ],
  ['more than the largest page', () => ' '.repeat(66_000_000), /more than 65536000 bytes/],
] as const) {
  test(`${name} are refused with advice`, async () => {
    sent = body();
    await assert.rejects(client.listConversations(query, never), (error) => {
      assert.ok(error instanceof ExportApiError);
      assert.equal(error.code, 'UnexpectedAnswer');
      assert.match(error.message, message);
      assert.match(error.message, /check that the base URL is the API's/);
      return true;
    });
  });
}

test('an abort ends the thread that reads a page', async () => {
  sent = JSON.stringify(page);
  const channel = new BroadcastChannel('listing-thread');
  const started = new Promise<void>((resolve) => {
    channel.onmessage = () => resolve();
  });
  // Says that it is there, and never answers.
  const body = `import { BroadcastChannel } from 'node:worker_threads';
    new BroadcastChannel('listing-thread').postMessage(1); setInterval(() => {}, 1e6);`;
  const program = new URL(`data:text/javascript,${encodeURIComponent(body)}`);
  const stop = new AbortController();
  const reading = createListingClient({ ...options, agent: openAgent, program }).listConversations(
    query,
    stop.signal,
  );
  await started;
  stop.abort();
  await assert.rejects(reading, { code: 'Aborted' });
  channel.close();
});

/** Lists, objects and all that is in them. */
function valuesOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce((sum: number, one) => sum + valuesOf(one), 1);
}

test('the count of values is never less than there are, and at most twice as many and two', () => {
  const check = (value: unknown): void => {
    const real = valuesOf(value);
    const counted = countValues(Buffer.from(JSON.stringify(value)));
    assert.ok(counted >= real && counted <= 2 * real + 2, `${counted} for ${real}`);
  };
  fc.assert(fc.property(fc.jsonValue(), check));
  check(page);
  assert.ok(countValues(Buffer.from(JSON.stringify(page))) < mostValues / 10);
  for (const text of ['"\\",[{"', '"\\\\",', '""', '["[,{\\"",1]']) {
    const value: unknown = text.endsWith(',') ? JSON.parse(text.slice(0, -1)) : JSON.parse(text);
    check(value);
  }
});
