// Requests made to cost more than they weigh: every field that is read, filled up to the limit with what its reader
// stops at, in thousands; and heads beyond the limit. A reader that is not linear in its text never ends on these, and
// no request after it gets an answer: the guard is only there to end such a run.

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { makeArchive } from './archive.ts';
import { ask, readAnswer, sendRaw } from './raw-client.ts';
import { prepareSite, type ServedSite } from './served-site.ts';

const guard = { timeout: 120_000 };
const page = `<!doctype html><title>page</title>\n${'<p>All of this is text.</p>\n'.repeat(100)}`;
let served: ServedSite;

before(async () => {
  served = await prepareSite();
  const archive = join(served.folder, 'export.tar.gz');
  await writeFile(
    archive,
    await makeArchive({ 'index.html': page, 'page.html': page, '404.html': page, 'a/b/404.html': page }),
  );
  await served.start('--bundle-url', `file://${archive}`, '--version', 'v1');
  await served.until('the site is served', ({ active }) => active !== null);
});
after(() => served.remove());

/** Below what the first reader of a head takes, and below what the second one does. */
const lengths = [7_500, 15_500];
const fillings = [
  ' ',
  '\t',
  ',',
  ', ',
  ';',
  '=',
  '-',
  '/',
  '*',
  '"',
  ',"',
  '"",',
  ',W/"',
  ',"a" ',
  '0',
  'a',
  '\xff',
];
const fields: Readonly<Record<string, readonly string[]>> = {
  'Accept-Encoding': ['', 'br', 'br;', 'br;q', 'br;q=', 'br;q=0.5', 'br;q=0.5,'],
  'If-Match': ['', '"', '"a"', 'W/', '"a",'],
  'If-None-Match': ['', '"', '"a"', 'W/', '"a",'],
  'If-Range': ['', '"a"'],
  Range: ['', 'bytes', 'bytes=', 'bytes=0', 'bytes=0-', 'bytes=0-1', 'bytes=0-1,'],
  Cookie: ['', 'a='],
  'User-Agent': [''],
  'X-Unknown': [''],
};

for (const [name, openings] of Object.entries(fields)) {
  test(`${name} of anything, however often, is answered`, guard, async () => {
    for (const length of lengths) {
      for (const opening of openings) {
        for (const filling of fillings) {
          const inside = filling.repeat(Math.floor(length / filling.length));
          for (const closing of ['', 'x', ';', '"']) {
            const { status } = await ask(served.port, '/page', [`${name}: ${opening}${inside}${closing}`]);
            const label = `${name}: ${opening}${filling}…${closing} (${length})`;
            assert.ok([200, 206, 304, 412, 416].includes(status), `${label}: ${status}`);
          }
        }
      }
    }
  });
}

test('targets of anything, however often, are answered', guard, async () => {
  for (const length of lengths) {
    for (const filling of ['/', 'a/', './', '../', '%2e/', '%41', '%', '?', '?/', '&', ':', '//a', 'a']) {
      for (const opening of ['/', '/a/b/', 'http://', 'http://a/', '/?']) {
        const target = opening + filling.repeat(Math.floor(length / filling.length));
        const { status } = await ask(served.port, target);
        assert.ok([200, 400, 404].includes(status), `${opening}${filling}…: ${status}`);
      }
    }
  }
});

test('conditions of thousands of tags, ranges in thousands, lines in thousands', guard, async () => {
  const { head } = await ask(served.port, '/page');
  const tag = /ETag: (".*")/.exec(head)?.[1] ?? '';
  const tags = Array.from({ length: 2000 }, (_, at) => `"${at}"`).join(',');
  const ranges = Array.from({ length: 2000 }, () => '0-0').join(',');
  const rows: readonly (readonly [readonly string[], number])[] = [
    [[`If-None-Match: ${tags}`], 200],
    [[`If-None-Match: ${tags},${tag}`], 304],
    [[`If-Match: ${tags}`], 412],
    [[`If-Match: ${tags},${tag}`], 200],
    [[`Range: bytes=${ranges}`], 200],
    [Array.from({ length: 900 }, (_, at) => `X${at}: y`), 200],
    [Array.from({ length: 600 }, () => 'Accept-Encoding: br'), 200],
    [Array.from({ length: 600 }, (_, at) => `If-None-Match: "${at}"`), 200],
    [Array.from({ length: 900 }, () => 'Cookie: a'), 200],
    [Array.from({ length: 1500 }, () => 'Cookie: a'), 431],
  ];
  for (const [send, status] of rows) {
    assert.equal((await ask(served.port, '/page', send)).status, status, `${send[0]?.slice(0, 30)}`);
  }
});

test('a head beyond the limit is refused with 431, whatever is in it', guard, async () => {
  const lines: readonly string[] = [
    `Cookie: ${'a=b; '.repeat(1_000_000)}`,
    'Cookie: a=b\r\n'.repeat(300_000),
    `If-None-Match: ${'"a",'.repeat(100_000)}`,
    `Range: bytes=${'0-0,'.repeat(100_000)}`,
    `X${'y'.repeat(1_000_000)}: z`,
    'X: y\r\n'.repeat(20_000),
  ];
  for (const line of lines) {
    const text = await sendRaw(served.port, `GET /page HTTP/1.1\r\nHost: a\r\n${line}\r\n\r\n`);
    const { status } = readAnswer(text);
    // A client that goes on sending may lose the answer with the connection.
    assert.ok(status === 431 || status === 0, `${line.slice(0, 20)}: ${status}`);
  }
  assert.equal((await ask(served.port, '/page')).status, 200);
  assert.doesNotMatch(served.output(), /"level":"(warn|error)"/);
});
