// The site's not-found page: asked for by an address that cannot exist, kept under any status, and recognised where a site
// answers with it under status 200.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import type { CrawlResult } from '#export-service/crawler/contract.ts';
import {
  createNotFoundPages,
  noSuchAddress,
  spellsRequest,
} from '#export-service/crawler/not-found-pages.ts';
import type { StoredBody } from '#export-service/crawler/spool.ts';
import { type Address, createScope } from '#site/site-scope.ts';
import type { Served } from '../../../fixtures/sites/trap-site.ts';
import { type Answering, crawl, serveSite, textsOf } from './site-server.ts';

const html = (body: string, status = 200): Served => ({
  status,
  headers: { 'content-type': 'text/html' },
  body,
});
const reasonsOf = ({ skipped }: CrawlResult): readonly string[] =>
  skipped.map(({ path, reason, from }) => `${path} ${reason} ${from}`);
const noSuch = '/static-export-operator-no-such-page';

/** Path → body of a page, and `rest` for everything else. */
const site =
  (bodies: Readonly<Record<string, string>>, rest: (path: string) => Served | undefined): Answering =>
  (path) => {
    const body = bodies[path];
    if (body !== undefined) return html(body);
    return ['/robots.txt', '/sitemap.xml'].includes(path) ? undefined : rest(path);
  };

test('a not-found page that comes with status 404 is kept as 404.html, with what it loads, and does not count', async (t) => {
  const { origin, requests } = await serveSite(
    t,
    site({ '/': '<a href="/fr/">fr</a>', '/fr/': 'accueil' }, (path) =>
      path === '/lost.svg'
        ? { headers: { 'content-type': 'image/svg+xml' }, body: '<svg/>' }
        : html('friendly <img src="/lost.svg"><img src="/gone.png">', 404),
    ),
  );
  const result = await crawl(t, origin);
  assert.deepEqual(Object.keys(await textsOf(result)), [
    '404.html',
    'fr/index.html',
    'index.html',
    'lost.svg',
  ]);
  assert.equal(result.pageCount, 2);
  assert.deepEqual(reasonsOf(result), ['/gone.png NotFound /404.html']);
  assert.deepEqual(
    requests.filter((path) => path.includes(noSuch)),
    [noSuch, `${noSuch}-2`, `/fr${noSuch}`, `/fr${noSuch}-2`],
  );
});

test('a base folder keeps a not-found page of its own', async (t) => {
  const { origin } = await serveSite(
    t,
    site(
      { '/': '<a href="/fr/">fr</a><a href="/docs/v2.1">docs</a>', '/fr/': 'accueil', '/docs/v2.1': 'two' },
      (path) => html(path.startsWith('/fr/') ? 'introuvable' : 'nothing here', 404),
    ),
  );
  const texts = await textsOf(await crawl(t, origin));
  assert.deepEqual(Object.keys(texts), [
    '404.html',
    'docs/v2.1.html',
    'fr/404.html',
    'fr/index.html',
    'index.html',
  ]);
  assert.equal(texts['fr/404.html'], 'introuvable');
});

test('a not-found page that varies by request is not kept, below the root or a base folder', async (t) => {
  let requestCount = 0;
  const varying: Readonly<Record<string, (path: string, host: string) => string>> = {
    S3: () => `<p>RequestId: ${++requestCount}</p>`,
    Express: (path) => `<pre>Cannot GET ${path}</pre>`,
    Apache: (_, host) => `<address>Server at ${host.split(':')[0]} Port 80</address>`,
    constant: () => `<a href="${noSuch}">this page</a>`,
  };
  for (const [name, bodyOf] of Object.entries(varying)) {
    const { origin } = await serveSite(t, (path, { headers: { host = '' } }) =>
      path === '/' || path === '/js/' ? html('<a href="/js/">js</a>') : html(bodyOf(path, host), 404),
    );
    const result = await crawl(t, origin);
    assert.deepEqual(Object.keys(await textsOf(result)), ['index.html', 'js/index.html'], name);
    const [note, ...others] = result.notes;
    assert.deepEqual([note?.code, note?.example, others], ['NotFoundPageVaries', '/404.html', []], name);
  }
});

test('a host of one word counts where it is written as a host', () => {
  const spells = (text: string, origin: string, domain = 'docs.example.com'): boolean =>
    spellsRequest(Buffer.from(text), createScope(domain, new URL(origin)));
  assert.ok(!spells('the docs are here', 'http://docs:8080'));
  for (const text of ['http://docs/x', 'Apache Server at docs Port 8080', 'see docs:8080']) {
    assert.ok(spells(text, 'http://docs:8080'), text);
  }
  assert.ok(spells('at web.svc Port 80', 'http://web.svc'));
  assert.ok(!spells('https://docs.example.com/', 'https://docs.example.com'));
});

test('a 404.html with status 200 comes before the answer to an unknown address', async (t) => {
  const bodies = {
    '/': 'home <a href="/de/">de</a>',
    '/404.html': 'own',
    '/de/': 'start',
    '/de/404': 'eigene',
  };
  const { origin } = await serveSite(
    t,
    site(bodies, () => html('of the server', 404)),
  );
  const result = await crawl(t, origin);
  const texts = await textsOf(result);
  assert.deepEqual([texts['404.html'], texts['de/404.html']], ['own', 'eigene']);
  assert.equal(result.pageCount, 2);
});

test('the origin may add a language and a slash before it answers', async (t) => {
  const { origin } = await serveSite(
    t,
    site({ '/': 'home' }, (path) => {
      if (!path.includes(noSuch)) return undefined;
      if (!path.startsWith('/en/')) return { status: 307, headers: { location: `/en${path}` } };
      return path.endsWith('/') ? html('friendly', 404) : { status: 308, headers: { location: `${path}/` } };
    }),
  );
  assert.deepEqual(await textsOf(await crawl(t, origin)), { '404.html': 'friendly', 'index.html': 'home' });
});

test('an answer that is not a page, fails, or redirects elsewhere is not a not-found page', async (t) => {
  const answers: readonly Served[] = [
    { status: 404, body: 'without a type' },
    { status: 404, headers: { 'content-type': 'text/plain' }, body: 'text' },
    { status: 500 },
    { status: 302, headers: { location: '/' } },
    { status: 403, headers: { 'content-type': 'text/html' }, body: 'closed' },
    html('', 404),
  ];
  for (const answer of answers) {
    const { origin } = await serveSite(
      t,
      site({ '/': 'home' }, (path) => (path.includes(noSuch) ? answer : undefined)),
    );
    assert.deepEqual(Object.keys(await textsOf(await crawl(t, origin))), ['index.html']);
  }
});

test('robots.txt may disallow the address', async (t) => {
  const { origin, requests } = await serveSite(t, (path) => {
    if (path === '/robots.txt') {
      return { headers: { 'content-type': 'text/plain' }, body: `User-agent: *\nDisallow: ${noSuch}` };
    }
    return path === '/' ? html('home') : html('x', 404);
  });
  await crawl(t, origin);
  assert.ok(!requests.some((path) => path.includes(noSuch)));
});

test('a page that is the answer to unknown addresses is left out, also if it spells its own address', async (t) => {
  const lost = (path: string): string =>
    `<h1>Lost</h1><p>${path}</p><a href="/login?next=${encodeURIComponent(path)}">in</a>`;
  const bodies = {
    '/': '<a href="/dead">a</a> <a href="/deep/dead%20link">b</a> <a href="/real">c</a> <img src="/x.png">',
    '/real': 'real',
  };
  const { origin } = await serveSite(
    t,
    site(bodies, (path) => html(lost(path))),
  );
  const result = await crawl(t, origin);
  assert.deepEqual(Object.keys(await textsOf(result)), ['404.html', 'index.html', 'real.html']);
  assert.equal(result.pageCount, 2);
  assert.deepEqual(
    reasonsOf(result).filter((text) => !text.startsWith('/login')),
    ['/dead SoftNotFound /', '/deep/dead%20link SoftNotFound /', '/x.png NotAnAsset /'],
  );
  assert.deepEqual(
    result.notes.filter(({ code }) => code === 'AnswersEverything'),
    [],
  );
});

test('a soft 404 below a folder is left out, also if it came before the answer of that folder', async (t) => {
  const bodies = {
    '/': '<a href="/fr/">fr</a> <a href="/fr/a">a</a>',
    '/fr/': 'accueil',
    '/fr/real': 'vrai',
  };
  const rest = (path: string): Served =>
    path.startsWith('/fr/') ? html('introuvable <a href="/fr/real">x</a>') : html('lost', 404);
  const { origin } = await serveSite(t, site(bodies, rest));
  const result = await crawl(t, origin);
  assert.deepEqual(Object.keys(await textsOf(result)), [
    '404.html',
    'fr/404.html',
    'fr/index.html',
    'fr/real.html',
    'index.html',
  ]);
  assert.deepEqual(reasonsOf(result), ['/fr/a SoftNotFound /']);
  assert.equal(result.pageCount, 3);
});

test('an app of one page keeps its pages, and a note counts them', async (t) => {
  const app = '<div id="root"></div><a href="/a"></a><a href="/b"></a>';
  const { origin } = await serveSite(
    t,
    site({}, () => html(app)),
  );
  const result = await crawl(t, origin);
  assert.deepEqual(Object.keys(await textsOf(result)), ['404.html', 'a.html', 'b.html', 'index.html']);
  assert.deepEqual(reasonsOf(result), []);
  assert.deepEqual(result.notes, [{ code: 'AnswersEverything', count: 3, example: '/' }]);
});

test('an app with a prerendered home page keeps its pages: its answer is a shell, or many pages are the answer', async (t) => {
  const paths = Array.from({ length: 40 }, (_, at) => `/p${at}`);
  const home = `<h1>Home</h1>${paths.map((path) => `<a href="${path}">x</a>`).join('')}`;
  const answers = {
    SvelteKit: '<body><div><script>import("/_app/start.js")</script></div></body>',
    Angular:
      '<app-root>Loading…</app-root><noscript>Please enable JavaScript to use this application.</noscript><script src="/main.js" type="module"></script>',
    'with text': `<h1>App</h1><p>${'A shell with a menu. '.repeat(5)}</p><a href="/p40">more</a>`,
  };
  for (const [name, answer] of Object.entries(answers)) {
    const { origin } = await serveSite(
      t,
      site({ '/': home }, (path) => (path.endsWith('.js') ? undefined : html(answer))),
    );
    const result = await crawl(t, origin);
    const count = name === 'with text' ? 41 : 40;
    assert.equal(result.pageCount, count + 1, name);
    assert.deepEqual(
      result.notes.filter(({ code }) => code === 'AnswersEverything').map((note) => note.count),
      [count],
      name,
    );
    assert.deepEqual(
      reasonsOf(result).filter((text) => text.includes('Soft')),
      [],
      name,
    );
  }
});

test('a short page that says that it found nothing is not the shell of an app', async (t) => {
  const links = '<a href="/dead">a</a><a href="/real">b</a>';
  for (const lost of [
    '<h1>Lost</h1><script src="/s.js"></script>',
    'Page not found <script src="/s.js"></script>',
  ]) {
    const { origin } = await serveSite(
      t,
      site({ '/': links, '/real': 'real' }, () => html(lost)),
    );
    assert.ok(reasonsOf(await crawl(t, origin)).includes('/dead SoftNotFound /'), lost);
  }
});

test('a site that answers with its login page keeps one page of it, and follows its links', async (t) => {
  const named = { '/a-dead': '/login', '/b-dead': '/anmelden' };
  for (const [dead, login] of Object.entries(named)) {
    const answer = `<h1>Sign in</h1><form action="${login}"><input></form><a href="/help">Help</a>`;
    const { origin } = await serveSite(
      t,
      site({ '/': `<a href="${dead}">x</a><a href="${login}">in</a>`, '/help': 'help' }, () => html(answer)),
    );
    const result = await crawl(t, origin);
    assert.deepEqual(
      Object.keys(await textsOf(result)),
      ['404.html', 'help.html', 'index.html', `${login.slice(1)}.html`].sort(),
    );
    assert.deepEqual(reasonsOf(result), [`${dead} SoftNotFound /`]);
    assert.deepEqual(result.notes, []);
  }
});

test('an app whose home page is in a language folder keeps its pages', async (t) => {
  const { origin } = await serveSite(
    t,
    site({}, (path) =>
      path.startsWith('/en/')
        ? html('<a href="/en/a">a</a>')
        : { status: 302, headers: { location: `/en${path}` } },
    ),
  );
  const result = await crawl(t, origin);
  assert.ok((await textsOf(result))['en/a.html']);
  assert.deepEqual(result.notes, [{ code: 'AnswersEverything', count: 2, example: '/en/' }]);
});

test('the number of folders that are asked is limited, and only languages and versions are', () => {
  const pages = createNotFoundPages(() => undefined, 10);
  const learn = (path: string): number => pages.learnFolder({ path, query: '' }).length;
  assert.deepEqual(
    ['/fr/', '/fr', '/pt-br/index.html', '/docs/latest/', '/v1.x/', '/about/', '/', '/a/b/fr/', '/fr/x'].map(
      learn,
    ),
    [3, 0, 3, 3, 3, 0, 0, 0, 0],
  );
  const learned = Array.from({ length: 100 }, (_, at) => learn(`/v${at}/`)).filter((count) => count > 0);
  assert.equal(learned.length, 60);
});

test('an answer is compared in each spelling of an address, and only where the sizes are equal', () => {
  const stored = (text: string): StoredBody => ({
    sizeBytes: Buffer.byteLength(text),
    sha256: createHash('sha256').update(text).digest('hex'),
  });
  const answer = (path: string, decoded: string): string =>
    `"${path}" ${encodeURIComponent(path)} {"p":"${path.replaceAll('/', '\\/')}"} &#x2F;${path.slice(1).replaceAll('/', '&#x2F;')} ${decoded.length}`;
  const pages = createNotFoundPages(() => undefined, 10);
  const address = noSuchAddress('/');
  const body = answer(address.path, '');
  pages.learnAnswer('/', stored(body), {
    address,
    isNotFound: false,
    isSteady: false,
    isShell: false,
    bytes: Buffer.from(body),
  });
  const isSoft = (page: Address, text: string): boolean => pages.isSoftNotFound(page, stored(text));
  const page = { path: '/a/b', query: '' };
  assert.ok(isSoft(page, answer(page.path, '')));
  assert.ok(!isSoft(page, answer('/a/c', '')));
  assert.ok(!isSoft(page, `${answer(page.path, '')} `));
  const many = address.path.repeat(200);
  pages.learnAnswer('/', stored(many), {
    address,
    isNotFound: false,
    isSteady: false,
    isShell: false,
    bytes: Buffer.from(many),
  });
  assert.ok(isSoft(page, many) && !isSoft(page, page.path.repeat(200)));
});
