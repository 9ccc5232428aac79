// RFC 9110 §9 (methods), §10.2.1 (Allow), RFC 9112 §9 (connections) and §6 (framing) as far as a reader may try them.

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { words } from '../../../support/words.ts';
import { readAnswer, sendRaw } from '../raw-client.ts';
import { type ConformanceSite, exchange, hold } from './conformance-site.ts';
import { defaultSite } from './default-site.ts';

let site: ConformanceSite;
before(async () => {
  site = await defaultSite();
});

test('§9.3.2 HEAD has the status and the fields of GET, and no content', async () => {
  const fieldsOf = async (method: string, target: string, more: readonly string[]): Promise<unknown> => {
    const lines = [`${method} ${target} HTTP/1.1`, 'Host: a', ...more, 'Connection: close'];
    const { status, headers } = await exchange(site.port, lines);
    return [status, [...headers].filter(([name]) => name !== 'date')];
  };
  for (const more of [[], ['Accept-Encoding: br'], ['Accept-Encoding: gzip'], ['If-None-Match: *']]) {
    for (const target of words('/ /page /folder /folder/ /no /digits.bin /empty.txt /% /%00')) {
      const [get, head] = [await fieldsOf('GET', target, more), await fieldsOf('HEAD', target, more)];
      assert.deepEqual(head, get, `${target} ${more.join()}`);
    }
  }
});

test('§15.5.6, §10.2.1: what is not GET or HEAD is 405 with Allow, whatever the target', async () => {
  const fields = { allow: 'GET, HEAD', connection: 'close' };
  for (const method of words('POST PUT DELETE PATCH OPTIONS TRACE PROPFIND MKCOL PURGE QUERY')) {
    await hold(site, [
      { rule: `${method} of a page`, method, status: 405, fields },
      { rule: `${method} of nothing`, method, target: '/no', status: 405, fields },
    ]);
  }
  await hold(site, [{ rule: 'OPTIONS of the server', method: 'OPTIONS', target: '*', status: 405, fields }]);
});

test('§9.1 methods are case-sensitive, and what is none ends the connection', async () => {
  for (const method of ['get', 'Get', 'FOO', 'G@T', '']) {
    const answer = readAnswer(await sendRaw(site.port, `${method} /page HTTP/1.1\r\nHost: a\r\n\r\n`));
    assert.ok(answer.status === 400 || answer.status === 405, `${method}: ${answer.status}`);
  }
});

test('§9.3.1 content in a GET means nothing, and never becomes the next request', async () => {
  const inner = 'GET /admin/secret.html HTTP/1.1\r\nHost: a\r\n\r\n';
  const text = await sendRaw(
    site.port,
    `GET /digits.bin HTTP/1.1\r\nHost: a\r\nContent-Length: ${inner.length}\r\n\r\n${inner}` +
      'GET /digits.bin HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
  );
  assert.equal([...text.matchAll(/HTTP\/1\.1 200 OK/g)].length, 2);
  assert.ok(!text.includes('All of this is text'));
});

test('RFC 9112 §3, §5: what the parser refuses has a status that says why, and a date', async () => {
  const rows = [
    ['no target', 'GET HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['no leading slash', 'GET page HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['no Host', 'GET /page HTTP/1.1\r\n\r\n', 400],
    ['two hosts', 'GET /page HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n', 400],
    ['one host twice, apart', 'GET /page HTTP/1.1\r\nHost: a\r\nX: y\r\nhost: a\r\n\r\n', 400],
    ['a host that is none', 'GET /page HTTP/1.1\r\nHost: a b/@\r\n\r\n', 400],
    ['the same, of a method that is not there', 'POST /page HTTP/1.1\r\nHost: a/b\r\n\r\n', 400],
    ['an expectation', 'GET /page HTTP/1.1\r\nHost: a\r\nExpect: a cake\r\n\r\n', 417],
    ['a tunnel', 'CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n', 405],
    ['another version', 'GET /page HTTP/3.7\r\nHost: a\r\n\r\n', 400],
    ['space before the colon', 'GET /page HTTP/1.1\r\nHost : a\r\n\r\n', 400],
    ['a folded field', 'GET /page HTTP/1.1\r\nHost: a\r\nX: b\r\n c\r\n\r\n', 400],
    ['two lengths', 'GET /page HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n', 400],
    [
      'length and encoding',
      'GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
      400,
    ],
    ['a long target', `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 431],
    ['long fields', `GET /page HTTP/1.1\r\nHost: a\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`, 431],
  ] as const;
  for (const [rule, sent, status] of rows) {
    const closing = sent.replace('Host: a\r\n', 'Host: a\r\nConnection: close\r\n');
    const answer = readAnswer(await sendRaw(site.port, closing));
    assert.equal(answer.status, status, rule);
    assert.match(answer.head, /\r\nDate: /, rule);
    assert.match(answer.head, /\r\nCache-Control: no-store/, rule);
    assert.match(answer.head, /\r\nContent-Length: \d/, rule);
    assert.doesNotMatch(answer.head, /chunked/, rule);
    if (status === 405) assert.match(answer.head, /\r\nAllow: GET, HEAD/, rule);
  }
});

test('§10.1.1 no client is asked to send a body that is not wanted', async () => {
  const fields = ['Host: a', 'Expect: 100-continue', 'Content-Length: 5', 'Connection: close'];
  for (const [method, status] of [
    ['POST', 405],
    ['GET', 200],
  ] as const) {
    const text = await sendRaw(site.port, [`${method} /digits.bin HTTP/1.1`, ...fields, '', ''].join('\r\n'));
    assert.ok(text.startsWith(`HTTP/1.1 ${status} `), `${method}: ${text.slice(0, 30)}`);
  }
});

test('RFC 9112 §9.3 persistence: HTTP/1.1 stays, HTTP/1.0 and close do not', async () => {
  const one = (version: string, ...more: readonly string[]): string =>
    [`GET /digits.bin HTTP/${version}`, 'Host: a', ...more, '', ''].join('\r\n');
  const answers = (text: string): number => [...text.matchAll(/HTTP\/1\.1 200/g)].length;
  const last = one('1.1', 'Connection: close');
  assert.equal(answers(await sendRaw(site.port, one('1.1') + one('1.1') + last)), 3);
  assert.equal(answers(await sendRaw(site.port, last + one('1.1'))), 1, 'nothing after close');
  assert.equal(answers(await sendRaw(site.port, one('1.0') + one('1.1'))), 1, 'HTTP/1.0 closes');
  const kept = await sendRaw(site.port, one('1.0', 'Connection: keep-alive') + last);
  assert.equal(answers(kept), 2, 'unless it asks to stay');
});
