// The cards: what they name under each host, and that they are what the extension's schema asks for.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { protocolVersions } from '#server/mcp/mcp-task.ts';
import { findOwnHost, readOwnHost } from '#server/mcp/own-hosts.ts';
import { aiCatalog, serverCard, serverNameOf } from '#server/mcp/server-cards.ts';

/** Of `schema.ts` of the extension, the fields that this server writes. */
const cardShape = z.strictObject({
  $schema: z.literal('https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json'),
  name: z
    .string()
    .min(3)
    .max(200)
    .regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/),
  version: z.string().max(255),
  description: z.string().min(1).max(100),
  remotes: z.array(
    z.strictObject({
      type: z.literal('streamable-http'),
      url: z.url(),
      headers: z.array(z.looseObject({ name: z.string(), isSecret: z.literal(true) })).optional(),
      supportedProtocolVersions: z.array(z.string()),
    }),
  ),
});

const hosts = ['docs.example.com', 'http://docs.team.svc'].map(readOwnHost);

const rows: readonly (readonly [host: string, url: string, name: string])[] = [
  ['docs.example.com', 'https://docs.example.com/base/mcp', 'com.example.docs/documentation'],
  ['docs.example.com:8443', 'https://docs.example.com:8443/base/mcp', 'com.example.docs/documentation'],
  ['docs.team.svc', 'http://docs.team.svc/base/mcp', 'svc.team.docs/documentation'],
  ['127.0.0.1:8080', 'http://127.0.0.1:8080/base/mcp', '127.0.0.1/documentation'],
  ['[::1]:8080', 'http://[::1]:8080/base/mcp', '-1-/documentation'],
];

for (const [host, url, name] of rows) {
  test(`under ${host} the card names ${url}`, () => {
    const own = findOwnHost(hosts, host) ?? assert.fail();
    const context = { own, host, basePath: '/base', needsToken: true };
    const card = cardShape.parse(JSON.parse(serverCard(context).text));
    assert.equal(card.name, name);
    assert.equal(card.remotes[0]?.url, url);
    assert.equal(card.remotes[0]?.headers?.[0]?.name, 'Authorization');
    const catalog = JSON.parse(aiCatalog(context).text);
    assert.equal(catalog.entries[0].url, `${url}/server-card`);
    assert.match(catalog.entries[0].identifier, /^urn:air:[a-z0-9.-]+:mcp:documentation$/);
  });
}

test('without a token the card asks for no header, and the same card has the same entity tag', () => {
  const own = findOwnHost(hosts, 'docs.example.com') ?? assert.fail();
  const context = { own, host: 'docs.example.com', basePath: '', needsToken: false };
  const { text, entityTag } = serverCard(context);
  assert.doesNotMatch(text, /Authorization/);
  assert.equal(serverCard(context).entityTag, entityTag);
  assert.notEqual(serverCard({ ...context, basePath: '/b' }).entityTag, entityTag);
});

test('a card names the revisions that the library answers', () => {
  assert.deepEqual(protocolVersions.slice(1), SUPPORTED_PROTOCOL_VERSIONS);
});

test('a long host makes a name that the schema allows', () => {
  assert.ok(serverNameOf(`${'a'.repeat(250)}.example`).length <= 200);
});
