// All ends of a crawl other than a whole site: each limit, each failure of the origin, and the caller's signal. Each is an
// error with a code, and none leaves part of a site.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brotliCompressSync } from 'node:zlib';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import type { Served } from '../../../fixtures/sites/trap-site.ts';
import { type Answering, type CrawlOptions, crawl, pages, serveSite, textsOf } from './site-server.ts';
import { steppingClock } from './stepping-clock.ts';

const failsWith = (code: string, message?: RegExp) => (error: unknown) => {
  assert.ok(error instanceof PublishableError, String(error));
  assert.equal(error.code, code);
  assert.doesNotMatch(error.message, /https?:|\?/);
  if (message !== undefined) assert.match(error.message, message);
  return true;
};
const html = (body: string): Served => ({ headers: { 'content-type': 'text/html' }, body });
const robots =
  (text: string, rest: Answering): Answering =>
  (path, request, response) =>
    path === '/robots.txt'
      ? { headers: { 'content-type': 'text/plain' }, body: text }
      : rest(path, request, response);

/** A calendar: every month links to the next. */
const calendar: Answering = (path) => {
  const month = /^\/(\d*)$/.exec(path)?.[1];
  return month === undefined ? undefined : html(`<a href="/${Number(month) + 1}">next</a>`);
};

const manyLinks = html(Array.from({ length: 21 }, (_, n) => `<a href="/${n}">`).join(''));
const ends: readonly (readonly [string, Answering, CrawlOptions, string, RegExp])[] = [
  [
    'links without end',
    calendar,
    { limits: { maxPages: 50 } },
    'TooManyPages',
    /more than 50 pages \(--max-pages\).*disallow/,
  ],
  [
    'a chain longer than the depth',
    calendar,
    { limits: { maxDepth: 20 } },
    'TooDeep',
    /\/21 is more than 20 links/,
  ],
  [
    'links that fan out without end',
    (path) =>
      /^[\d/]*$/.test(path)
        ? html([0, 1, 2, 3].map((n) => `<a href="${path.replace(/\/$/, '')}/${n}">x</a>`).join(''))
        : undefined,
    { limits: { maxPages: 100 } },
    'TooManyPages',
    /100/,
  ],
  [
    'dead links without end',
    (path) =>
      path === '/'
        ? html(Array.from({ length: 2000 }, (_, n) => `<a href="/dead/${n}">`).join(''))
        : undefined,
    { limits: { maxFiles: 10 } },
    'TooManyLinks',
    /1040/,
  ],
  [
    'more files than the limit',
    pages({ '/': '<a href="/a"><a href="/b"><a href="/c">', '/a': 'a', '/b': 'b', '/c': 'c' }),
    { limits: { maxFiles: 3 } },
    'TooManyFiles',
    /more than 3 files/,
  ],
  [
    'more bytes than the limit',
    pages({ '/': '<a href="/a"><a href="/b">', '/a': 'a'.repeat(600), '/b': 'b'.repeat(600) }),
    { limits: { maxBytes: 1000 } },
    'TooManyBytes',
    /1000 bytes \(--max-bytes\)/,
  ],
  [
    'one file larger than the limit',
    pages({ '/': '<a href="/a">', '/a': 'a'.repeat(600) }),
    { limits: { maxFileBytes: 500 } },
    'FileTooLarge',
    /^\/a is larger than 500 bytes, the limit of one file/,
  ],
  ['no page at all', () => undefined, {}, 'NoPages', /home page: NotFound/],
  [
    'a home page that is no HTML',
    (path) => (path === '/' ? { headers: { 'content-type': 'text/plain' }, body: 'x' } : undefined),
    {},
    'NoPages',
    /as HTML/,
  ],
  [
    'robots.txt disallows all',
    robots('User-agent: *\nDisallow: /', pages({ '/': 'x' })),
    {},
    'NoPages',
    /robots\.txt disallows/,
  ],
  [
    'a home page that redirects away',
    () => ({ status: 301, headers: { location: 'https://elsewhere.example/' } }),
    {},
    'NoPages',
    /RedirectOffSite/,
  ],
  [
    'a home page that keeps failing',
    (path) => (path === '/' ? { status: 503 } : undefined),
    {},
    'OriginFailed',
    /failed 5 times at \/ \(status 503\)/,
  ],
  [
    'pages that keep failing, more than 20 in a row',
    (path) => (path === '/' ? manyLinks : /^\/\d+$/.test(path) ? { status: 503 } : undefined),
    {},
    'OriginFailed',
    /failed 5 times at \/\d+ \(status 503\)/,
  ],
  [
    'pages in brotli, which was not requested',
    (path) =>
      /^\/\d+$/.test(path)
        ? {
            headers: { 'content-type': 'text/html', 'content-encoding': 'br' },
            body: brotliCompressSync('a'),
          }
        : path === '/'
          ? manyLinks
          : undefined,
    {},
    'OriginFailed',
    /failed 5 times at \/\d+ \(content encoding br, which was not requested\); nothing was exported/,
  ],
  [
    'answers that are cut off',
    (path, _, response) => {
      if (path !== '/') return undefined;
      response.writeHead(200, { 'content-type': 'text/html', 'content-length': '100' });
      response.write('half', () => response.destroy());
      return undefined;
    },
    {},
    'OriginFailed',
    /at \//,
  ],
  [
    'robots.txt that keeps failing: RFC 9309 lets nobody crawl then',
    (path) => (path === '/robots.txt' ? { status: 500 } : html('x')),
    {},
    'OriginFailed',
    /robots\.txt/,
  ],
];
for (const [name, answer, options, code, message] of ends) {
  test(`${name}: ${code}`, async (t) => {
    const { origin } = await serveSite(t, answer);
    await assert.rejects(crawl(t, origin, options), failsWith(code, message));
  });
}

test('an origin without a server is unreachable, after several attempts with growing waits', async (t) => {
  const clock = steppingClock();
  const closed = new URL('http://127.0.0.1:1/');
  await assert.rejects(crawl(t, closed, { clock }), failsWith('OriginUnreachable', /ECONNREFUSED/));
  assert.deepEqual(clock.waits, [500, 1000, 2000, 4000]);
});

test('a page that fails at first is exported, and Retry-After is obeyed up to a limit', async (t) => {
  const answers = ['30', 'Thu, 01 Jan 2026 00:00:50 GMT', '86400'];
  const clock = steppingClock();
  const { origin } = await serveSite(t, (path) => {
    const retryAfter = path === '/' ? answers.shift() : undefined;
    const date = new Date(clock.now()).toUTCString();
    return retryAfter === undefined
      ? pages({ '/': 'home' })(path)
      : { status: 429, headers: { 'retry-after': retryAfter, date } };
  });
  const { pageCount } = await crawl(t, origin, { clock, limits: { concurrency: 1 } });
  assert.equal(pageCount, 1);
  // 30 s, then the 20 s that are left to the date, then a day cut to the longest wait.
  assert.deepEqual(clock.waits, [30_000, 20_000, 60_000]);
});

test('a crawl ends at its time limit, also during a wait', async (t) => {
  const { origin } = await serveSite(t, () => ({ status: 503, headers: { 'retry-after': '60' } }));
  const limits = { timeoutMs: 100_000 };
  await assert.rejects(
    crawl(t, origin, { limits }),
    failsWith('CrawlTimedOut', /100000 ms \(--crawl-timeout\)/),
  );
});

test('a request without an answer ends at its deadline', async (t) => {
  const clock = steppingClock();
  const { origin } = await serveSite(t, (path, _, response) => {
    if (path !== '/hangs') return pages({ '/': '<a href="/hangs">' })(path);
    response.writeHead(200, { 'content-type': 'text/html' });
    response.write('half', () => void clock.after(30_000));
    return undefined;
  });
  const { skipped } = await crawl(t, origin, { clock });
  assert.deepEqual(skipped, [{ path: '/hangs', reason: 'OriginFailed', from: '/' }]);
});

test('the caller ends a crawl at once, in the middle of an answer', async (t) => {
  const caller = new AbortController();
  const { origin } = await serveSite(t, (path, _, response) => {
    if (path !== '/hangs') return pages({ '/': '<a href="/hangs">' })(path);
    response.writeHead(200);
    response.write('half', () => caller.abort());
    return undefined;
  });
  await assert.rejects(crawl(t, origin, { signal: caller.signal }), failsWith('CrawlAborted'));
});

test('a chain of too many redirects ends and is reported by name', async (t) => {
  const { origin, requests } = await serveSite(t, (path) => {
    const hop = /^\/r\/(\d+)$/.exec(path)?.[1];
    return hop === undefined
      ? pages({ '/': '<a href="/r/0">x</a>' })(path)
      : { status: 302, headers: { location: `/r/${Number(hop) + 1}` } };
  });
  const result = await crawl(t, origin, { limits: { maxRedirects: 3 } });
  assert.ok(result.skipped.some(({ path, reason }) => path === '/r/0' && reason === 'TooManyRedirects'));
  assert.equal(requests.filter((path) => path.startsWith('/r/')).length, 4);
});

test('a conventional file that fails is not reported: no page asks for it', async (t) => {
  const { origin } = await serveSite(t, (path) =>
    path === '/llms-full.txt' ? { status: 500 } : pages({ '/': 'home' })(path),
  );
  const result = await crawl(t, origin);
  assert.equal(result.pageCount, 1);
  assert.deepEqual(result.skipped, []);
});

test('one address that keeps failing is left out by name, and the site is exported', async (t) => {
  const { origin, requests } = await serveSite(t, (path) =>
    path === '/a.css' ? { status: 500 } : pages({ '/': '<link rel=stylesheet href=a.css>' })(path),
  );
  const { skipped, pageCount } = await crawl(t, origin);
  assert.deepEqual(skipped, [{ path: '/a.css', reason: 'OriginFailed', from: '/' }]);
  assert.equal(pageCount, 1);
  assert.equal(requests.filter((path) => path === '/a.css').length, 10);
});

test('an address that failed in an outage is asked for again at the end, with all that it leads to', async (t) => {
  let answers = 0;
  const { origin } = await serveSite(t, (path) => {
    if (path === '/a') answers += 1;
    if (path === '/a' && answers <= 5) return { status: 503 };
    return pages({ '/': '<a href="/a"><a href="/b">', '/a': '<a href="/c">', '/b': 'b', '/c': 'c' })(path);
  });
  const { skipped, pageCount } = await crawl(t, origin);
  assert.deepEqual([skipped, pageCount], [[], 4]);
});

test('a failed sitemap ends the crawl, unless robots.txt disallows it', async (t) => {
  const failing = (path: string): Served | undefined =>
    path === '/sitemap.xml' ? { status: 500 } : pages({ '/': 'home' })(path);
  const first = await serveSite(t, failing);
  await assert.rejects(crawl(t, first.origin), failsWith('OriginFailed', /sitemap\.xml/));
  const second = await serveSite(t, robots('User-agent: *\nDisallow: /sitemap.xml', failing));
  assert.equal((await crawl(t, second.origin)).pageCount, 1);
});

test('an error page at /404 is exported, and is not counted as a page', async (t) => {
  const { origin } = await serveSite(t, (path) =>
    path === '/404.html'
      ? { status: 308, headers: { location: '/404' } }
      : pages({ '/': 'home', '/404': 'nothing here' })(path),
  );
  const result = await crawl(t, origin);
  assert.deepEqual(await textsOf(result), { '404.html': 'nothing here', 'index.html': 'home' });
  assert.equal(result.pageCount, 1);
});

test('a redirect from one Unicode form of an address to the other needs no file of its own', async (t) => {
  const links = '<a href="/u%CC%88">both</a><a href="/%C3%BC">forms</a>';
  const { origin } = await serveSite(t, (path) =>
    path === '/u%CC%88'
      ? { status: 301, headers: { location: '/%C3%BC' } }
      : pages({ '/': links, '/%C3%BC': 'one' })(path),
  );
  assert.deepEqual(await textsOf(await crawl(t, origin)), { 'index.html': links, '\u00fc.html': 'one' });
});
