// Crawls that go on where an interrupted one ended. What a kill leaves is a copy of the crawl's directory, taken at once in the
// middle of a request. Invariant: the result is that of the whole crawl, and no recorded answer is asked for again.

import assert from 'node:assert/strict';
import {
  appendFileSync,
  copyFileSync,
  cpSync,
  globSync,
  readdirSync,
  readFileSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { createLogger } from '#platform/runtime/logger.ts';
import { PublishableError, publishableCode } from '#platform/wire/publishable-error.ts';
import type { Served } from '../../../../fixtures/sites/trap-site.ts';
import * as fc from '../../../../support/properties.ts';
import { temporaryFolder } from '../../../../support/temporary-folder.ts';
import { type Answering, crawl, pages, type SiteServer, serveSite } from '../site-server.ts';
import { steppingClock } from '../stepping-clock.ts';
import { drawnSite, servedBy } from './drawn-site.ts';

interface Killed {
  /** What the whole crawl gave. */
  readonly whole: Awaited<ReturnType<typeof outcomeOf>>;
  /** Copies of its directory, each at one of the requests. */
  readonly left: readonly string[];
}

/** A whole crawl, and what it would have left if it had been killed at these requests. */
async function killedAt(
  t: TestContext,
  answer: (path: string, request: Parameters<Answering>[1]) => Served | undefined,
  requestNumbers: readonly number[],
): Promise<Killed & { readonly server: SiteServer }> {
  const spoolDirectory = temporaryFolder(t);
  const left: string[] = [];
  const server: SiteServer = await serveSite(t, (path, request) => {
    if (requestNumbers.includes(server.requests.length)) {
      const copy = temporaryFolder(t);
      copyAsKilled(spoolDirectory, copy);
      left.push(copy);
    }
    return answer(path, request);
  });
  const whole = await outcomeOf(t, server, spoolDirectory);
  return { server, whole, left };
}

/**
 * What a kill at this moment would leave. Another thread goes on storing bodies, so a file may get its name during the copy:
 * then it is in neither, and no answer of the journal is about it, because only this thread writes there.
 */
function copyAsKilled(from: string, to: string): void {
  for (const name of readdirSync(from)) {
    try {
      copyFileSync(join(from, name), join(to, name));
    } catch (error) {
      if (publishableCode(error) !== 'ENOENT' || !name.endsWith('.partial')) throw error;
    }
  }
}

async function outcomeOf(
  t: TestContext,
  { origin, requests }: SiteServer,
  spoolDirectory: string,
  options: Parameters<typeof crawl>[2] = {},
) {
  requests.length = 0;
  const { files, answers, ...result } = await crawl(t, origin, {
    ...options,
    request: { ...options.request, spoolDirectory },
  });
  const hashes = files.map(({ path, sha256 }) => [path, sha256]);
  return { result: { hashes, ...result }, answers, requests: [...requests].sort() };
}

/** The addresses whose answers a killed crawl recorded, as often as it asked. */
function recordedIn(directory: string): readonly string[] {
  const copy = `${directory}.read`;
  cpSync(directory, copy, { recursive: true });
  const database = new DatabaseSync(join(copy, 'answers.sqlite'));
  try {
    return database
      .prepare('SELECT address FROM answers')
      .all()
      .map((row) => String(row['address']));
  } finally {
    database.close();
  }
}

test('a crawl that was killed at any request gives the same site, and asks for no recorded answer again', async (t) => {
  const cuts = fc.uniqueArray(fc.integer({ min: 2, max: 22 }), { minLength: 1, maxLength: 3 });
  let kills = 0;
  const property = fc.asyncProperty(drawnSite, cuts, async (site, requestNumbers) => {
    const { server, whole, left } = await killedAt(t, servedBy(site), requestNumbers);
    kills += left.length;
    for (const directory of left) {
      const recorded = recordedIn(directory);
      const resumed = await outcomeOf(t, server, directory);
      assert.deepEqual(resumed.result, whole.result);
      assert.deepEqual([...recorded, ...resumed.requests].sort(), whole.requests);
      assert.equal(resumed.answers.fromJournal, recorded.length);
    }
  });
  await fc.assertAsync(property, { numRuns: 25 });
  assert.ok(kills > 25, `${kills} kills`);
});

const chain = pages({ '/': '<a href="/a">', '/a': '<a href="/b">', '/b': '<a href="/c">', '/c': 'end' });
const asked = (requests: readonly string[]): readonly string[] =>
  requests.filter((path) => /^.[abc]?$/.test(path));

/** Killed when it asks for a page of the chain. */
async function killedAtPage(t: TestContext, page: string, answer: Answering = chain) {
  const spoolDirectory = temporaryFolder(t);
  const copy = temporaryFolder(t);
  const server = await serveSite(t, (path, ...rest) => {
    if (path === page) copyAsKilled(spoolDirectory, copy);
    return answer(path, ...rest);
  });
  const whole = await outcomeOf(t, server, spoolDirectory);
  return { server, whole, copy };
}

test('a crawl that is killed again and again goes on each time', async (t) => {
  const { server, whole, copy } = await killedAtPage(t, '/b');
  const again = temporaryFolder(t);
  cpSync(copy, again, { recursive: true });
  const second = await outcomeOf(t, server, copy);
  // Of the second start everything is recorded, what it took from the first one too.
  const third = await outcomeOf(t, server, copy);
  assert.deepEqual([asked(second.requests), third.requests], [['/b', '/c'], []]);
  assert.deepEqual([second.result, third.result], [whole.result, whole.result]);
});

test('a body that is missing or damaged on the disk is asked for again', async (t) => {
  const { server, whole, copy } = await killedAtPage(t, '/c');
  const bodyOf = (text: string): string => {
    const found = globSync(`${copy}/*`).find((path) => readFileSync(path, 'utf8') === text);
    assert.ok(found !== undefined);
    return found;
  };
  writeFileSync(bodyOf('<a href="/a">'), '<a href="/x">');
  truncateSync(bodyOf('<a href="/b">'), 0);
  appendFileSync(bodyOf('<a href="/c">'), '<a href="/y">');
  const resumed = await outcomeOf(t, server, copy);
  assert.deepEqual(asked(resumed.requests), ['/', '/a', '/b', '/c']);
  assert.deepEqual(resumed.result, whole.result);
});

test('a damaged journal is thrown away with a line in the log, and the crawl starts from nothing', async (t) => {
  const { server, whole, copy } = await killedAtPage(t, '/c');
  const damages: readonly ((path: string) => void)[] = [
    (path) => writeFileSync(path, 'not a database'),
    (path) => truncateSync(path, 4096),
    (path) => {
      const database = new DatabaseSync(path);
      database.exec('PRAGMA user_version = 99');
      database.close();
    },
  ];
  for (const damage of damages) {
    const directory = temporaryFolder(t);
    cpSync(copy, directory, { recursive: true });
    const journal = join(directory, 'answers.sqlite');
    const database = new DatabaseSync(journal);
    database.exec('PRAGMA journal_mode = DELETE');
    database.close();
    damage(journal);
    const lines: string[] = [];
    const logger = createLogger('info', (line) => void lines.push(line));
    const resumed = await outcomeOf(t, server, directory, { logger });
    assert.match(lines.join(''), /answers of the interrupted crawl cannot be used/);
    assert.deepEqual(resumed.requests, whole.requests);
    assert.deepEqual(resumed.result, whole.result);
  }
});

test('answers of another origin, or to other headers, are not used', async (t) => {
  const { server, whole, copy } = await killedAtPage(t, '/c');
  for (const originHeaders of [{ 'x-tenant': 'one-hush' }, { 'x-tenant': 'two' }]) {
    const resumed = await outcomeOf(t, server, copy, { request: { originHeaders } });
    assert.deepEqual(resumed.requests, whole.requests, originHeaders['x-tenant']);
  }
  const same = await outcomeOf(t, server, copy, { request: { originHeaders: { 'x-tenant': 'two' } } });
  assert.deepEqual(same.requests, []);
  const other = await serveSite(t, chain);
  assert.deepEqual((await outcomeOf(t, other, copy)).requests, whole.requests);
  assert.doesNotMatch(readFileSync(join(copy, 'answers.sqlite'), 'latin1'), /hush/);
});

test('answers that are older than a crawl may take are asked for again', async (t) => {
  const { server, copy } = await killedAtPage(t, '/c');
  const later = (ms: number) => ({ ...steppingClock(Date.parse('2026-01-01T00:00:00Z') + ms) });
  const limits = { timeoutMs: 60_000 };
  const within = temporaryFolder(t);
  cpSync(copy, within, { recursive: true });
  const early = await outcomeOf(t, server, within, { limits, clock: later(60_000) });
  assert.deepEqual(asked(early.requests), ['/c']);
  const late = await outcomeOf(t, server, copy, { limits, clock: later(60_001) });
  assert.deepEqual(asked(late.requests), ['/', '/a', '/b', '/c']);
});

test('the value of a cookie is not recorded: the origin is asked for it again, and what it opened is not', async (t) => {
  let count = 0;
  const { server, whole, copy } = await killedAtPage(t, '/c', (path, { headers }) => {
    if (/consent=hush-\d/.test(headers.cookie ?? '')) return chain(path);
    count += 1;
    return { status: 302, headers: { location: `${path}?cookies=1`, 'set-cookie': `consent=hush-${count}` } };
  });
  const resumed = await outcomeOf(t, server, copy);
  assert.deepEqual(asked(resumed.requests), ['/', '/', '/c']);
  assert.deepEqual(resumed.result, whole.result);
  for (const path of globSync(`${copy}/answers.sqlite*`)) {
    assert.doesNotMatch(readFileSync(path, 'latin1'), /hush/);
  }
});

test('a resumed crawl has the limits of its own start', async (t) => {
  const { server, copy } = await killedAtPage(t, '/c');
  await assert.rejects(outcomeOf(t, server, copy, { limits: { maxBytes: 20 } }), (error: unknown) => {
    assert.ok(error instanceof PublishableError);
    assert.equal(error.code, 'TooManyBytes');
    return true;
  });
});
