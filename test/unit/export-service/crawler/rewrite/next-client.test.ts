// The client of a Next.js server after the edit, run with a network of its own: what it asks for, and what it gets.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createContext, runInContext } from 'node:vm';
import { editNextClient } from '#export-service/crawler/rewrite/next-client.ts';
import { applyEdits } from '#platform/html/source-edits.ts';

const client = 'self.types=["text/x-component","_rsc"];';

interface Sent {
  readonly status: number;
  readonly type: string | null;
  readonly url: string;
  readonly text: string;
  readonly asked: readonly string[];
}

/** @param files of the bundle; any other path is answered with a page */
async function send(
  files: Readonly<Record<string, string>>,
  address: string,
  headers: Readonly<Record<string, string>>,
): Promise<Sent> {
  const asked: string[] = [];
  const fetchFile = (path: URL | string): Promise<Response> => {
    asked.push(String(path));
    const text = files[String(path)];
    return Promise.resolve(
      text === undefined
        ? new Response('<!doctype html>', { headers: { 'content-type': 'text/html' } })
        : new Response(text, { headers: { 'content-type': 'text/plain' } }),
    );
  };
  const self: { fetch: typeof fetchFile; types?: readonly string[] } = { fetch: fetchFile };
  const location = { href: 'https://docs.example.com/', origin: 'https://docs.example.com' };
  const context = createContext({ self, location, Headers, Response, URL });
  const edited = applyEdits(client, editNextClient(client));
  // Two chunks of one client may have the strings.
  runInContext(edited + edited, context);
  assert.equal(self.types?.length, 2);
  const answer: unknown = await Reflect.apply(self.fetch, undefined, [
    new URL(address, location.href),
    { headers },
  ]);
  assert.ok(answer instanceof Response);
  const type = answer.headers.get('content-type');
  return { status: answer.status, type, url: answer.url, text: await answer.text(), asked };
}

const rsc = { RSC: '1', 'Next-Router-State-Tree': '%5B%5D' };

test('the client gets the data of a page from a file, with the type and address of its server', async () => {
  const sent = await send({ '/guides/x.txt': '0:["b"]' }, '/guides/x?_rsc=1a', rsc);
  assert.deepEqual(sent, {
    ...{ status: 200, type: 'text/x-component', text: '0:["b"]', asked: ['/guides/x.txt'] },
    url: 'https://docs.example.com/guides/x?_rsc=1a',
  });
});

test('the data of a folder and of a page with its ending have the names that the crawler gives them', async () => {
  const names = [];
  for (const path of ['/', '/guides/', '/x.html']) {
    const { asked } = await send(
      { '/index.txt': '0:', '/guides/index.txt': '0:', '/x.txt': '0:' },
      path,
      rsc,
    );
    names.push(...asked);
  }
  assert.deepEqual(names, ['/index.txt', '/guides/index.txt', '/x.txt']);
});

test('a page without data is asked for as before, so that the client loads it as a whole', async () => {
  const sent = await send({}, '/legacy/x?_rsc=1a', rsc);
  assert.deepEqual(sent.asked, ['/legacy/x.txt', 'https://docs.example.com/legacy/x?_rsc=1a']);
  assert.equal(sent.type, 'text/html');
});

test('a part of a page is not asked for', async () => {
  const sent = await send({}, '/guides/x', { rsc: '1', 'next-router-segment-prefetch': '/_tree' });
  assert.deepEqual([sent.status, sent.asked], [204, []]);
});

test('other requests stay as they are', async () => {
  assert.deepEqual((await send({}, '/api', {})).asked, ['https://docs.example.com/api']);
  assert.deepEqual((await send({}, 'https://other.example/x', rsc)).asked, ['https://other.example/x']);
});

test('a directive of the client stays its first statement, and other scripts keep their bytes', () => {
  const strict = `"use strict";${client}`;
  assert.match(applyEdits(strict, editNextClient(strict)), /^"use strict";\(\(\)=>\{/);
  assert.deepEqual(editNextClient('fetch("/x",{headers:{accept:"text/x-component"}})'), []);
});
