// Which addresses are those of agents, under a base path and without one.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findMcpPlace } from '#server/mcp/mcp-places.ts';

const rows: readonly (readonly [target: string, basePath: string, place: string | undefined])[] = [
  ['/mcp', '', 'endpoint'],
  ['/mcp?a=b', '', 'endpoint'],
  ['/%6dcp', '', 'endpoint'],
  ['/mcp/', '', undefined],
  ['//mcp', '', undefined],
  ['/MCP', '', undefined],
  ['/mcp.html', '', undefined],
  ['/guide/mcp', '', undefined],
  ['/docs/mcp', '/docs', 'endpoint'],
  ['/mcp', '/docs', undefined],
  ['/docsmcp', '/docs', undefined],
  ['/docs/mcp/server-card', '/docs', 'card'],
  ['/docs/.well-known/mcp', '/docs', 'card'],
  ['/.well-known/mcp', '/docs', 'card'],
  ['/.well-known/mcp/server-card.json', '', 'card'],
  ['/.well-known/ai-catalog.json', '/docs', 'catalog'],
  ['/.well-known/other', '', undefined],
  ['/mcp/server-card', '/docs', undefined],
  ['http://evil.example/mcp', '', undefined],
  ['*', '', undefined],
  ['evil.example:443', '', undefined],
  ['/a/../mcp', '', undefined],
  ['/mcp%00', '', undefined],
  ['/%c3%a4/mcp', '/ä', 'endpoint'],
];

for (const [target, basePath, place] of rows) {
  test(`${target} below ${JSON.stringify(basePath)} is ${place ?? 'a file of the site'}`, () => {
    assert.equal(findMcpPlace(target, basePath), place);
  });
}
