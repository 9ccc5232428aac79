// Origins that behave as servers in use do, and what a crawl does about it: addresses in raw bytes, session ids, cookies,
// redirects to https, default documents.

import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { type TestContext, test } from 'node:test';
import { inspect } from 'node:util';
import { createLogger } from '#platform/runtime/logger.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import type { Served } from '../../../fixtures/sites/trap-site.ts';
import { crawl, pages, serveSite, textsOf } from './site-server.ts';

const html = (body: string): Served => ({ headers: { 'content-type': 'text/html' }, body });
const redirect = (location: string, cookie?: string): Served => ({
  status: 302,
  headers: { location, ...(cookie !== undefined && { 'set-cookie': cookie }) },
});

interface LoggedCrawl {
  readonly texts: Readonly<Record<string, string>>;
  readonly skipped: readonly string[];
  readonly log: string;
}

async function logged(
  t: TestContext,
  origin: URL,
  options: Parameters<typeof crawl>[2] = {},
): Promise<LoggedCrawl> {
  const lines: string[] = [];
  const result = await crawl(t, origin, {
    logger: createLogger('debug', (line) => void lines.push(line)),
    ...options,
  });
  const skipped = result.skipped.map(({ path, reason }) => `${path} ${reason}`);
  return { texts: await textsOf(result), skipped, log: lines.join('') };
}

test('a redirect to an address in raw UTF-8 leads to that page', async (t) => {
  const home = '<a href="/old">old</a>';
  const { origin } = await serveSite(t, (path, { socket }) => {
    if (path !== '/old') return pages({ '/': home, '/%C3%A9': 'moved' })(path);
    socket.end(
      Buffer.from('HTTP/1.1 301 Moved\r\nContent-Length: 0\r\nConnection: close\r\nLocation: /é\r\n\r\n'),
    );
    return undefined;
  });
  const result = await crawl(t, origin);
  assert.deepEqual(
    result.files.map(({ path }) => path),
    ['index.html', 'old.html', 'é.html'],
  );
  assert.match((await textsOf(result))['old.html'] ?? '', /url=\.\/%C3%A9"/);
});

test('a redirect to itself that sets a cookie is followed once, and the cookie is sent from then on', async (t) => {
  const site = pages({ '/': '<a href="/a">', '/a': '<a href="/b">', '/b': 'b' });
  const { origin, requests } = await serveSite(t, (path, { headers }) => {
    const page = site(path);
    if (page === undefined || headers.cookie === 'consent=yes-hush') return page;
    return redirect(
      `http://127.0.0.1:${origin.port}${path}?cookies=1`,
      'consent=yes-hush; Path=/; Secure; HttpOnly',
    );
  });
  const { texts, skipped, log } = await logged(t, origin);
  assert.deepEqual([Object.keys(texts), skipped], [['a.html', 'b.html', 'index.html'], []]);
  assert.deepEqual(
    requests.filter((path) => /^.[ab]?$/.test(path)),
    ['/', '/', '/a', '/b'],
  );
  assert.match(log, /redirects an address to itself with a cookie/);
  assert.doesNotMatch(log, /consent|hush/);
});

test('a redirect to itself that a cookie does not end is a loop, and its cookie is not kept', async (t) => {
  const cookies: unknown[] = [];
  let count = 0;
  const { origin, requests } = await serveSite(t, (path, { headers }) => {
    if (path === '/end') cookies.push(headers.cookie);
    if (path !== '/loop')
      return pages({ '/': '<a href="/loop"><a href="/z">', '/z': '<a href="/end">', '/end': 'x' })(path);
    count += 1;
    return redirect('/loop', `count=${count}`);
  });
  const { skipped } = await logged(t, origin);
  assert.deepEqual([skipped, cookies], [['/loop RedirectLoop'], [undefined]]);
  assert.equal(requests.filter((path) => path === '/loop').length, 3);
});

test('cookies that are removed, too long, or not cookies are not sent', async (t) => {
  const cookies: unknown[] = [];
  const { origin } = await serveSite(t, (path, { headers }, response) => {
    if (path !== '/') return undefined;
    cookies.push(headers.cookie);
    if (cookies.length === 2) return html('home');
    const set = [
      'gone=1; Max-Age=0',
      'old=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT',
      `long=${'x'.repeat(4000)}`,
      'none',
      '=x',
      'a=1=2',
    ];
    response.writeHead(302, { location: '/', 'set-cookie': set }).end();
    return undefined;
  });
  await crawl(t, origin);
  assert.deepEqual(cookies, [undefined, 'a=1=2']);
});

test('which cookies are sent does not depend on the order of answers', async (t) => {
  let seed = 0;
  const wait = async (path: string): Promise<void> => {
    const turns = [...path].reduce((sum, char) => sum * seed + char.charCodeAt(0), 1) % 17;
    for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  };
  const { origin } = await serveSite(t, async (path, { headers }) => {
    await wait(path);
    const cookie = headers.cookie ?? '';
    const links = { '/': ['/x/1', '/x/2', '/x/3', '/y'], '/y': ['/z'] }[path] ?? [];
    if (!['/', '/y', '/z'].includes(path) && !path.startsWith('/x/')) return undefined;
    if (path.startsWith('/x/') && !cookie.includes('x=')) return redirect(path, `x=${path}`);
    return html(`${cookie}${links.map((link) => `<a href="${link}">`).join('')}`);
  });
  const first = await logged(t, origin, { limits: { concurrency: 1 } });
  assert.deepEqual([first.texts['x/1.html'], first.texts['z.html']], ['x=/x/1', 'x=/x/3']);
  for (seed of [3, 5, 11]) assert.deepEqual((await logged(t, origin)).texts, first.texts);
});

const publicNames: readonly (readonly [string, string, string])[] = [
  ['its public name', '', 'https://docs.example.com'],
  ['the name that it is asked by', '', 'https://127.0.0.1'],
  ['its public name, below a prefix', '/base', 'https://docs.example.com/base'],
  ['its public name, without the prefix', '/base', 'https://docs.example.com'],
];
for (const [name, prefix, to] of publicNames) {
  test(`an origin that redirects http to https of ${name} is crawled as behind a proxy`, async (t) => {
    const got: IncomingMessage['headers'][] = [];
    const { origin } = await serveSite(t, (path, { headers }) => {
      const own = path.slice(prefix.length);
      if (headers['x-forwarded-proto'] !== 'https') return redirect(`${to}${own}`);
      got.push(headers);
      return pages({ '/': '<a href="https://docs.example.com/a">', '/a': 'a' })(own);
    });
    const { texts, skipped, log } = await logged(t, new URL(`${prefix}/`, origin));
    assert.deepEqual([Object.keys(texts), skipped], [['a.html', 'index.html'], []]);
    assert.ok(got.every((headers) => headers['x-forwarded-host'] === 'docs.example.com'));
    assert.match(log, /redirects http to https; the crawl sends X-Forwarded-Proto and X-Forwarded-Host/);
  });
}

test('an origin that redirects to https whatever it is sent ends the crawl, with the flag that may help', async (t) => {
  const { origin, requests } = await serveSite(t, (path) => redirect(`https://docs.example.com${path}`));
  await assert.rejects(crawl(t, origin), { code: 'NoPages', message: /RedirectLoop.*--origin-header/ });
  assert.equal(requests.filter((path) => path === '/').length, 2);
});

test('headers of the administrator are on every request, win over what the origin asks for, and are never shown', async (t) => {
  const got: IncomingMessage['headers'][] = [];
  const { origin } = await serveSite(t, (path, { headers }) => {
    got.push(headers);
    if (headers['x-forwarded-proto'] !== 'http2' || headers.host !== 'inside.example:8080')
      return redirect(`https://docs.example.com${path}`);
    if (headers.cookie !== 'own=1; consent=yes') return redirect(path, 'consent=yes');
    return pages({ '/': '<a href="http://inside.example:8080/a">', '/a': 'a' })(path);
  });
  const originHeaders = {
    host: 'inside.example:8080',
    authorization: 'Basic hush',
    'x-forwarded-proto': 'http2',
    cookie: 'own=1',
  };
  const { texts, skipped, log } = await logged(t, origin, { request: { originHeaders } });
  assert.deepEqual([Object.keys(texts), skipped], [['a.html', 'index.html'], []]);
  assert.ok(got.every(({ authorization }) => authorization === 'Basic hush'));
  assert.ok(got.every((headers) => headers['accept-encoding'] === 'gzip'));
  assert.doesNotMatch(log, /hush|own=1/);
});

test('an origin that refuses the headers of the administrator ends the crawl without their values', async (t) => {
  const { origin } = await serveSite(t, () => ({ status: 401 }));
  await assert.rejects(
    crawl(t, origin, { request: { originHeaders: { authorization: 'Basic hush' } } }),
    (error) => {
      assert.ok(error instanceof PublishableError);
      assert.match(error.message, /AccessDenied.*--origin-header/);
      assert.doesNotMatch(inspect(error, { depth: 9 }), /hush/);
      return true;
    },
  );
});

const closedSite = (path: string): Served | undefined =>
  path === '/robots.txt'
    ? {
        headers: { 'content-type': 'text/plain' },
        body: 'User-agent: *\nDisallow: /no\nDisallow: /sitemap\nSitemap: /sitemap.xml',
      }
    : pages({
        '/': '<a href="/no/b"><a href="/no/a"><img src="/no.png?1"><a href="/yes"><script>"/no/guess.js"</script>',
        '/no/a': 'a',
        '/no/b': 'b',
        '/yes': 'yes',
      })(path);

test('robots.txt that the administrator ignores refuses nothing, and the result counts what it would refuse', async (t) => {
  const { origin } = await serveSite(t, closedSite);
  const obeyed = await crawl(t, origin);
  assert.deepEqual([obeyed.pageCount, obeyed.notes], [2, []]);
  const ignored = await crawl(t, origin, { request: { ignoresRobots: true } });
  assert.equal(ignored.pageCount, 4);
  assert.deepEqual(ignored.notes, [{ code: 'RobotsIgnored', count: 3, example: '/no.png' }]);
});

test('robots.txt that keeps failing does not end a crawl that ignores it', async (t) => {
  const { origin } = await serveSite(t, (path) =>
    path === '/robots.txt' ? { status: 500 } : closedSite(path),
  );
  await assert.rejects(crawl(t, origin), { code: 'OriginFailed' });
  assert.equal((await crawl(t, origin, { request: { ignoresRobots: true } })).pageCount, 4);
});

test('index.htm and its folder are one page, under both names', async (t) => {
  const home =
    '<a href="/index.htm"><a href="/guide/index.htm#part"><a href="/both/"><a href="/both/Index.HTM">';
  const { origin } = await serveSite(
    t,
    pages({
      '/': home,
      '/index.htm': home,
      '/guide/index.htm': '<a href="/both/index.htm">guide',
      '/both/': 'same',
      '/both/index.htm': 'same',
      '/both/Index.HTM': 'other',
    }),
  );
  const counts: number[] = [];
  const onProgress = ({ pageCount }: { readonly pageCount: number }): void => void counts.push(pageCount);
  const result = await crawl(t, origin, { onProgress });
  assert.deepEqual(await textsOf(result), {
    'both/Index.HTM': 'other',
    'both/index.htm': 'same',
    'both/index.html': 'same',
    'guide/index.htm': '<a href="/both/index.htm">guide',
    'guide/index.html': '<a href="/both/index.htm">guide',
    'index.htm': home,
    'index.html': home,
  });
  assert.equal(result.pageCount, 4);
  assert.ok(counts.every((count) => count <= 4));
});

test('a home page that redirects to index.htm is the page itself', async (t) => {
  const { origin } = await serveSite(t, (path) =>
    path === '/' ? redirect('/index.htm') : pages({ '/index.htm': 'home' })(path),
  );
  const result = await crawl(t, origin);
  assert.deepEqual(
    [await textsOf(result), result.pageCount],
    [{ 'index.htm': 'home', 'index.html': 'home' }, 1],
  );
});

test('session ids in links are taken out: each page is fetched once, and the result is the same each time', async (t) => {
  let count = 0;
  const { origin, requests } = await serveSite(t, (path) => {
    count += 1;
    const id = `;jsessionid=${count}A-b.node1`;
    const links = `<a href="/a${id}?q=1#x">a</a> <a href='b${id}'>b</a> <a href=" https://docs.example.com/${id}">home</a>`;
    if (!['/', '/a', '/b'].includes(path)) return undefined;
    return html(
      `${links} <a href="https://other.example/${';jsessionid=1'}">x</a> <p>text${';jsessionid=1'}</p>`,
    );
  });
  const result = await crawl(t, origin);
  const page = `<a href="/a?q=1#x">a</a> <a href='b'>b</a> <a href=" https://docs.example.com/">home</a> <a href="https://other.example/;jsessionid=1">x</a> <p>text;jsessionid=1</p>`;
  assert.deepEqual(await textsOf(result), { 'a.html': page, 'b.html': page, 'index.html': page });
  assert.deepEqual(
    requests.filter((path) => /^.[ab]?(?:$|;)/.test(path)),
    ['/', '/a', '/b'],
  );
  assert.deepEqual(result.notes.at(-1), { code: 'SessionIdsDropped', count: 3, example: '/' });
});

test('a redirect that only adds a session id is followed, with its cookie or with the id', async (t) => {
  for (const [id, cookie] of [
    ['', 'JSESSIONID=1'],
    ['/(S(abcdefghijklmnopqrst0123))', undefined],
  ] as const) {
    const { origin } = await serveSite(t, (path, { headers }) => {
      const hasSession = cookie === undefined ? path.startsWith(id) : headers.cookie === cookie;
      const own = path.slice(cookie === undefined && hasSession ? id.length : 0);
      const page = pages({ '/': `<a href="${id}/a">`, '/a': 'a' })(own);
      if (page === undefined || hasSession) return page;
      return redirect(cookie === undefined ? `${id}${path}` : `${path};jsessionid=1`, cookie);
    });
    const result = await crawl(t, origin);
    assert.deepEqual(
      [await textsOf(result), result.skipped],
      [{ 'a.html': 'a', 'index.html': '<a href="/a">' }, []],
    );
  }
});
