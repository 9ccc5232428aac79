// One byte of a link, over real sockets: only a storage's clear word makes it dead.

import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { judgeAnswer, maxJudgedBytes, readBodyStart } from '../../../../src/bundle/fetch/link-answer.ts';
import { probeLink } from '../../../../src/bundle/fetch/probe.ts';
import { systemClock } from '../../../../src/runtime/clock.ts';
import {
  requireLink,
  type Storage,
  type StorageAnswer,
  startStorage,
} from '../../../support/storage-server.ts';

const options = { allowPrivateLinks: true, clock: systemClock, timeoutMs: 60_000, userAgent: 'test' };
const live = new AbortController().signal;
let storage: Storage | undefined;
afterEach(async () => {
  await storage?.close();
  storage = undefined;
});

async function probe(answer: StorageAnswer, more: Partial<typeof options> = {}) {
  storage = await startStorage(answer);
  return probeLink(storage.link(), { ...options, ...more }, live);
}

describe('a probed link', () => {
  test('is asked for one byte by GET', async () => {
    assert.equal(await probe((_request, response) => response.writeHead(206).end('x')), 'valid');
    assert.deepEqual(
      storage?.requests.map(({ method, headers }) => [method, headers.range]),
      [['GET', 'bytes=0-0']],
    );
  });

  test('is alive when its storage knows no ranges, and the rest is not read', async () => {
    const closed = Promise.withResolvers<void>();
    const life = await probe((_request, response) => {
      response.on('close', closed.resolve);
      response.write(Buffer.alloc(100_000));
    });
    assert.equal(life, 'valid');
    await closed.promise;
  });

  test('is alive behind a redirect', async () => {
    const life = await probe((_request, response, count) => {
      if (count === 1) response.writeHead(302, { location: '/else' }).end();
      else response.writeHead(206).end('x');
    });
    assert.equal(life, 'valid');
  });

  for (const status of [401, 403, 404, 410]) {
    test(`is dead at ${status}`, async () => {
      assert.equal(await probe((_request, response) => response.writeHead(status).end()), 'expired');
    });
  }

  test('is dead at 400 with an expired token', async () => {
    const body = '<Error><Code>ExpiredToken</Code></Error>';
    assert.equal(await probe((_request, response) => response.writeHead(400).end(body)), 'expired');
  });

  test('is unknown if no answer arrives in time', async () => {
    assert.equal(await probe(() => {}, { timeoutMs: 30 }), 'unknown');
    await storage?.close();
    const gone = storage?.link() ?? assert.fail();
    storage = undefined;
    assert.equal(await probeLink(gone, options, live), 'unknown');
  });

  test('is unknown, and not asked, at an internal address or in a file, wherever links may lead', async () => {
    const life = await probe((_request, response) => response.end(), { allowPrivateLinks: false });
    assert.equal(life, 'unknown');
    assert.equal(storage?.requests.length, 0);
    const file = requireLink(new URL(import.meta.url).href);
    assert.equal(await probeLink(file, { ...options, allowPrivateLinks: false }, live), 'unknown');
    assert.equal(await probeLink(file, options, live), 'unknown');
    assert.equal(await probeLink(requireLink(`${new URL(import.meta.url).href}x`), options, live), 'unknown');
  });

  test('ends with the caller’s reason when aborted', async () => {
    const caller = new AbortController();
    const reason = new Error('stop');
    storage = await startStorage(() => caller.abort(reason));
    await assert.rejects(probeLink(storage.link(), options, caller.signal), reason);
  });
});

describe('the judgement of an answer', () => {
  const table: readonly (readonly [number, string, string])[] = [
    [200, '', 'valid'],
    [206, '', 'valid'],
    [416, '', 'valid'],
    [204, '', 'unknown'],
    [400, '<Code>ExpiredToken</Code>', 'expired'],
    [400, '<Code>TokenExpired</Code>', 'expired'],
    [400, 'This URL has expired.', 'expired'],
    [409, '<Code>AuthenticationFailed</Code>', 'expired'],
    [400, 'The link is expired', 'expired'],
    [400, 'MalformedRequest', 'unknown'],
    [429, 'request expired', 'unknown'],
    [500, 'internal error', 'unknown'],
    [503, 'token expired', 'unknown'],
  ];
  for (const [status, body, life] of table) {
    test(`${status} "${body}" is ${life}`, () => assert.equal(judgeAnswer(status, body), life));
  }

  test('reads no more of a body than it judges, and survives its break', async () => {
    async function* breaking(): AsyncGenerator<Buffer> {
      yield Buffer.from('ExpiredToken');
      throw new Error('reset');
    }
    assert.equal(await readBodyStart(breaking()), 'ExpiredToken');
    let pieces = 0;
    async function* endless(): AsyncGenerator<Buffer> {
      for (;;) {
        pieces += 1;
        yield Buffer.alloc(1000, 'x');
      }
    }
    assert.equal((await readBodyStart(endless())).length, maxJudgedBytes);
    assert.equal(pieces, 9);
  });
});
