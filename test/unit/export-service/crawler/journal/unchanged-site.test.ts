// The next crawl of a site: what it asks for with a condition, what a 304 gives, and when it does without. Invariant: the
// result is that of a crawl that downloads everything.

import assert from 'node:assert/strict';
import { cpSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { CrawlRequest } from '#export-service/crawler/contract.ts';
import { defaultCrawlLimits } from '#export-service/crawler/contract.ts';
import { keepAnswers } from '#export-service/crawler/journal/crawl-answers.ts';
import { createLogger } from '#platform/runtime/logger.ts';
import { domain, type Served } from '../../../../fixtures/sites/trap-site.ts';
import * as fc from '../../../../support/properties.ts';
import { temporaryFolder } from '../../../../support/temporary-folder.ts';
import { crawl, serveSite, textsOf } from '../site-server.ts';
import { drawnSite, servedBy } from './drawn-site.ts';

/** Each body with the validators of a file server. */
interface TaggedSite {
  readonly bodies: Record<string, string>;
  readonly origin: URL;
  /** Path and status of each answer since the last crawl began. */
  readonly answers: string[];
  /** Headers of the requests for conditions, by path. */
  readonly conditions: Map<string, readonly (string | undefined)[]>;
}

const modified = 'Thu, 01 Jan 2026 00:00:00 GMT';

async function serveTagged(
  t: TestContext,
  bodies: Record<string, string>,
  validators: (path: string, body: string) => Readonly<Record<string, string>> = (_path, body) => ({
    etag: `W/"${Buffer.from(body).toString('base64url')}"`,
  }),
  before: (path: string, request: IncomingMessage) => Served | undefined = () => undefined,
): Promise<TaggedSite> {
  const answers: string[] = [];
  const conditions = new Map<string, readonly (string | undefined)[]>();
  const answer = (path: string, request: IncomingMessage): Served => {
    const { 'if-none-match': tag, 'if-modified-since': since } = request.headers;
    if ((tag ?? since) !== undefined) conditions.set(path, [tag, since]);
    const first = before(path, request);
    if (first !== undefined) return first;
    const body = bodies[path];
    if (body === undefined) return { status: 404, headers: { etag: '"none"' }, body: 'not found' };
    const own = validators(path, body);
    const isSame =
      tag === undefined ? since !== undefined && since === own['last-modified'] : tag === own['etag'];
    const type = path.endsWith('.css') ? 'text/css' : 'text/html';
    return isSame ? { status: 304, headers: own } : { headers: { 'content-type': type, ...own }, body };
  };
  const { origin } = await serveSite(t, (path, request) => {
    const served = answer(path, request);
    answers.push(`${path} ${served.status ?? 200}`);
    return served;
  });
  return { bodies, origin, answers, conditions };
}

type Options = NonNullable<Parameters<typeof crawl>[2]>;

async function crawlOf(t: TestContext, site: TaggedSite, options: Options = {}) {
  const spoolDirectory = temporaryFolder(t);
  site.answers.length = 0;
  site.conditions.clear();
  const request = { ...options.request, spoolDirectory };
  const { files, answers: counts, ...result } = await crawl(t, site.origin, { ...options, request });
  const hashes = files.map(({ path, sha256 }) => [path, sha256]);
  const texts = await textsOf({ files, answers: counts, ...result });
  return { spoolDirectory, texts, result: { hashes, ...result }, counts };
}

/** The folder of a crawl, reduced as after its job. */
async function keptOf(
  site: TaggedSite,
  directory: string,
  more: Partial<CrawlRequest> = {},
): Promise<number> {
  const limits = defaultCrawlLimits;
  return keepAnswers({
    domain,
    origin: site.origin,
    isOriginConsented: true,
    spoolDirectory: directory,
    limits,
    ...more,
  });
}

const home = '<link rel="stylesheet" href="/s.css"><a href="/a">a</a><a href="/b">b</a>';
const site = (): Record<string, string> => ({ '/': home, '/a': 'page a', '/b': 'page b', '/s.css': 'p{}' });
const notFound = (answers: readonly string[]): boolean => answers.every((answer) => /304$|404$/.test(answer));

test('an unchanged site sends no body again, and the result is the same', async (t) => {
  const served = await serveTagged(t, { ...site(), '/robots.txt': 'User-agent: *' });
  const first = await crawlOf(t, served);
  const asked = [...served.answers].sort();
  assert.equal(await keptOf(served, first.spoolDirectory), home.length + 6 + 6 + 3 + 13);
  const second = await crawlOf(t, served, { request: { earlierDirectory: first.spoolDirectory } });
  assert.deepEqual(
    [...served.answers].sort(),
    asked.map((answer) => answer.replace(/200$/, '304')),
  );
  assert.deepEqual([second.result, second.texts], [first.result, first.texts]);
  // robots.txt is asked for as rules and as a file.
  const answers = asked.length;
  assert.deepEqual(second.counts, { fromOrigin: answers - 6, notModified: 6, fromJournal: 0 });
  // The crawl after that has what the second one left alone.
  await keptOf(served, second.spoolDirectory);
  rmSync(first.spoolDirectory, { recursive: true });
  const third = await crawlOf(t, served, { request: { earlierDirectory: second.spoolDirectory } });
  assert.ok(notFound(served.answers), served.answers.join());
  assert.deepEqual([third.result, third.texts], [first.result, first.texts]);
});

test('an asset of another host is asked for with a condition too, and not taken for a file of the site', async (t) => {
  const cdn = await serveTagged(t, { '/s.css': 'b{background:url(p.css)}', '/p.css': 'font' });
  const url = `${cdn.origin.href}s.css`;
  const own = await serveTagged(t, { ...site(), '/': `${home}<link rel="stylesheet" href="${url}">` });
  const limits = { assets: { allowedHosts: [], allowsPrivate: true } };
  const first = await crawlOf(t, own, { limits });
  assert.equal(first.texts['s.css'], 'p{}');
  assert.ok(Object.values(first.texts).some((text) => text.startsWith('b{background:url(./')));
  await keptOf(own, first.spoolDirectory);
  const asked = [...cdn.answers];
  cdn.answers.length = 0;
  const second = await crawlOf(t, own, { limits, request: { earlierDirectory: first.spoolDirectory } });
  assert.deepEqual(
    [asked, cdn.answers],
    [
      ['/s.css 200', '/p.css 200'],
      ['/s.css 304', '/p.css 304'],
    ],
  );
  assert.deepEqual([second.result, second.texts], [first.result, first.texts]);
  // A start that was interrupted takes them from its own journal.
  cdn.answers.length = 0;
  const spoolDirectory = second.spoolDirectory;
  const again = await crawl(t, own.origin, { limits, request: { spoolDirectory } });
  assert.deepEqual([cdn.answers, again.answers.fromOrigin], [[], 0]);
  assert.deepEqual(await textsOf(again), first.texts);
});

test('whatever changed, the result is that of a crawl that downloads everything', async (t) => {
  let served: (path: string) => Served | undefined = () => undefined;
  let sameCount = 0;
  const { origin } = await serveSite(t, (path, { headers }) => {
    const answer = served(path);
    if (answer?.status !== undefined || typeof answer?.body !== 'string') return answer;
    const etag = `"${Buffer.from(answer.body).toString('base64url')}"`;
    if (headers['if-none-match'] !== etag) return { ...answer, headers: { ...answer.headers, etag } };
    sameCount += 1;
    return { status: 304, headers: { etag } };
  });
  const outcomeOf = async (spoolDirectory: string, earlierDirectory?: string) => {
    const request = { spoolDirectory, earlierDirectory };
    const { files, answers: _, ...result } = await crawl(t, origin, { request });
    return { hashes: files.map(({ path, sha256 }) => [path, sha256]), ...result };
  };
  const property = fc.asyncProperty(drawnSite, drawnSite, async (before, other) => {
    const [first, clean, second] = [temporaryFolder(t), temporaryFolder(t), temporaryFolder(t)];
    served = servedBy(before);
    await outcomeOf(first);
    const limits = defaultCrawlLimits;
    await keepAnswers({ domain, origin, isOriginConsented: true, spoolDirectory: first, limits });
    // Every third address changes.
    served = servedBy(before.map((one, at) => (at % 3 === 1 ? (other[at] ?? one) : one)));
    assert.deepEqual(await outcomeOf(second, first), await outcomeOf(clean));
  });
  await fc.assertAsync(property, { numRuns: 25 });
  assert.ok(sameCount > 25, `${sameCount} unchanged bodies`);
});

test('only the body of a changed page is sent again', async (t) => {
  const served = await serveTagged(t, site());
  const first = await crawlOf(t, served);
  await keptOf(served, first.spoolDirectory);
  served.bodies['/a'] = 'page a, changed';
  const second = await crawlOf(t, served, { request: { earlierDirectory: first.spoolDirectory } });
  assert.deepEqual(
    served.answers.filter((answer) => answer.endsWith('200')),
    ['/a 200'],
  );
  assert.deepEqual(second.texts, { ...first.texts, 'a.html': 'page a, changed' });
});

test('a page that is gone, and one that now redirects, are what they are now', async (t) => {
  const served = await serveTagged(t, site(), undefined, (path) =>
    path === '/b' && served.bodies['/b'] === undefined
      ? { status: 302, headers: { location: '/a' } }
      : undefined,
  );
  const first = await crawlOf(t, served);
  await keptOf(served, first.spoolDirectory);
  delete served.bodies['/s.css'];
  delete served.bodies['/b'];
  const second = await crawlOf(t, served, { request: { earlierDirectory: first.spoolDirectory } });
  assert.match(second.texts['b.html'] ?? '', /url=\.\/a/);
  assert.equal(second.texts['s.css'], undefined);
  assert.deepEqual(
    second.result.skipped.map(({ path, reason }) => [path, reason]),
    [['/s.css', 'NotFound']],
  );
});

test('both validators are sent as they came, and a date that its own second could contradict is not', async (t) => {
  const now = new Date().toUTCString();
  const rows: readonly (readonly [Readonly<Record<string, string>>, unknown])[] = [
    [{ etag: '"x"', 'last-modified': modified }, ['"x"', modified]],
    [{ etag: 'W/"x y"', 'last-modified': now, date: now }, undefined],
    [{ etag: 'W/"x"', 'last-modified': now, date: now }, ['W/"x"', undefined]],
    [{ 'last-modified': modified }, [undefined, modified]],
    [{ 'last-modified': now, date: now }, undefined],
    [{ 'last-modified': 'yesterday' }, undefined],
    [{ etag: 'bare' }, undefined],
    [{}, undefined],
  ];
  for (const [headers, expected] of rows) {
    const served = await serveTagged(t, { '/': 'home' }, () => headers);
    const first = await crawlOf(t, served);
    const bytes = await keptOf(served, first.spoolDirectory);
    assert.equal(bytes, expected === undefined ? 0 : 4, JSON.stringify(headers));
    await crawlOf(t, served, { request: { earlierDirectory: first.spoolDirectory } });
    assert.deepEqual(served.conditions.get('/'), expected, JSON.stringify(headers));
  }
});

test('a kept body that is missing or damaged is downloaded', async (t) => {
  const served = await serveTagged(t, site());
  const first = await crawlOf(t, served);
  await keptOf(served, first.spoolDirectory);
  for (const name of readdirSync(first.spoolDirectory)) {
    const path = join(first.spoolDirectory, name);
    const text = readFileSync(path, 'latin1');
    if (text === 'page a') writeFileSync(path, 'page x');
    if (text === 'page b') rmSync(path);
  }
  const second = await crawlOf(t, served, { request: { earlierDirectory: first.spoolDirectory } });
  assert.deepEqual(served.answers.filter((answer) => answer.endsWith('200')).sort(), ['/a 200', '/b 200']);
  assert.deepEqual(second.texts, first.texts);
});

test('what a cookie opened is asked about with that cookie alone', async (t) => {
  const served = await serveTagged(t, site(), undefined, (path, { headers }) =>
    headers.cookie === 'consent=hush'
      ? undefined
      : { status: 302, headers: { location: `${path}?cookies=1`, 'set-cookie': 'consent=hush' } },
  );
  const first = await crawlOf(t, served);
  await keptOf(served, first.spoolDirectory);
  const conditional: string[] = [];
  const second = await crawlOf(t, served, { request: { earlierDirectory: first.spoolDirectory } });
  for (const path of ['/', '/a', '/b', '/s.css']) {
    if (served.answers.includes(`${path} 304`)) conditional.push(path);
  }
  assert.deepEqual(conditional, ['/', '/a', '/b', '/s.css']);
  assert.ok(!served.answers.some((answer) => answer.endsWith('200')), served.answers.join());
  assert.deepEqual(second.texts, first.texts);
  for (const name of readdirSync(first.spoolDirectory)) {
    assert.doesNotMatch(readFileSync(join(first.spoolDirectory, name), 'latin1'), /hush/);
  }
});

test('a site that no longer wants a cookie is asked without conditions', async (t) => {
  let wantsCookie = true;
  const served = await serveTagged(t, site(), undefined, (path, { headers }) =>
    !wantsCookie || headers.cookie !== undefined
      ? undefined
      : { status: 302, headers: { location: path, 'set-cookie': 'consent=yes' } },
  );
  const first = await crawlOf(t, served);
  await keptOf(served, first.spoolDirectory);
  wantsCookie = false;
  const second = await crawlOf(t, served, { request: { earlierDirectory: first.spoolDirectory } });
  assert.deepEqual([...served.conditions], []);
  assert.deepEqual(second.texts, first.texts);
});

test('a 304 without a condition is a failed answer', async (t) => {
  const served = await serveTagged(t, site(), undefined, (path) =>
    path === '/a' ? { status: 304 } : undefined,
  );
  const { result } = await crawlOf(t, served);
  assert.deepEqual(
    result.skipped.map(({ path, reason }) => [path, reason]),
    [['/a', 'OriginFailed']],
  );
  assert.equal(served.answers.filter((answer) => answer === '/a 304').length, 10);
});

test('an address that cannot exist is always asked for, also where its page has validators', async (t) => {
  const served = await serveTagged(t, site(), undefined, (path) =>
    path.includes('no-such-page')
      ? { headers: { 'content-type': 'text/html', etag: '"nothing"' }, body: '<h1>nothing is here</h1>' }
      : undefined,
  );
  const first = await crawlOf(t, served);
  await keptOf(served, first.spoolDirectory);
  const second = await crawlOf(t, served, { request: { earlierDirectory: first.spoolDirectory } });
  assert.deepEqual(
    [...served.conditions.keys()].filter((path) => path.includes('no-such')),
    [],
  );
  assert.deepEqual(second.texts, first.texts);
});

test('a damaged journal of the last crawl is named in the log, and every body is downloaded', async (t) => {
  const served = await serveTagged(t, site());
  const first = await crawlOf(t, served);
  await keptOf(served, first.spoolDirectory);
  writeFileSync(join(first.spoolDirectory, 'answers.sqlite'), 'not a database');
  const lines: string[] = [];
  const second = await crawlOf(t, served, {
    request: { earlierDirectory: first.spoolDirectory },
    logger: createLogger('info', (line) => void lines.push(line)),
  });
  assert.match(lines.join(''), /answers of the last crawl cannot be used; every body is downloaded/);
  assert.deepEqual([...served.conditions], []);
  assert.deepEqual(second.texts, first.texts);
});

test('a resumed crawl asks with conditions from where it goes on', async (t) => {
  const served = await serveTagged(t, site(), undefined, (path) => {
    if (path === '/b' && spool !== undefined) cpSync(spool, left, { recursive: true });
    return undefined;
  });
  const left = temporaryFolder(t);
  let spool: string | undefined;
  const first = await crawlOf(t, served);
  await keptOf(served, first.spoolDirectory);
  const request = { earlierDirectory: first.spoolDirectory };
  spool = temporaryFolder(t);
  await crawl(t, served.origin, { request: { ...request, spoolDirectory: spool } });
  spool = undefined;
  served.answers.length = 0;
  const resumed = await crawl(t, served.origin, { request: { ...request, spoolDirectory: left } });
  assert.ok(served.answers.length < 8 && notFound(served.answers), served.answers.join());
  assert.deepEqual(await textsOf(resumed), first.texts);
});

test('what is kept is the journal and the bodies that it can ask about, for its owner alone', async (t) => {
  const served = await serveTagged(t, site(), (path, body) =>
    path === '/a' ? { etag: `"${body.length}"` } : {},
  );
  const first = await crawlOf(t, served, { request: { basePath: '/docs' } });
  assert.equal(await keptOf(served, first.spoolDirectory), 6);
  const names = readdirSync(first.spoolDirectory).sort();
  assert.equal(names.length, 2);
  assert.equal(names[1], 'answers.sqlite');
  assert.equal(statSync(join(first.spoolDirectory, 'answers.sqlite')).mode & 0o777, 0o600);
  assert.equal(await keptOf(served, temporaryFolder(t)), 0);
});
