// One byte of a link, over real sockets: only a storage's clear word makes it dead.

import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { judgeAnswer, linkFault } from '#bundle/fetch/link-answer.ts';
import { probeLink } from '#bundle/fetch/probe.ts';
import { createAgent } from '#platform/http/agent.ts';
import { systemClock } from '#platform/runtime/clock.ts';
import { openAgent } from '../../../support/open-agent.ts';
import {
  requireLink,
  type Storage,
  type StorageAnswer,
  startStorage,
} from '../../../support/storage-server.ts';

const options = { agent: openAgent, clock: systemClock, timeoutMs: 60_000, userAgent: 'test' };
const live = new AbortController().signal;
let storage: Storage | undefined;
afterEach(async () => {
  await storage?.close();
  storage = undefined;
});

async function probe(answer: StorageAnswer, more: Partial<typeof options> = {}) {
  storage = await startStorage(answer);
  return (await probeLink(storage.link(), { ...options, ...more }, live))?.code;
}

describe('a probed link', () => {
  test('is asked for one byte by GET', async () => {
    assert.equal(await probe((_request, response) => response.writeHead(206).end('x')), undefined);
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
    assert.equal(life, undefined);
    await closed.promise;
  });

  test('is alive behind a redirect', async () => {
    const life = await probe((_request, response, count) => {
      if (count === 1) response.writeHead(302, { location: '/else' }).end();
      else response.writeHead(206).end('x');
    });
    assert.equal(life, undefined);
  });

  for (const status of [401, 403, 404, 410]) {
    test(`is refused at ${status}`, async () => {
      assert.equal(await probe((_request, response) => response.writeHead(status).end()), 'LinkRefused');
    });
  }

  test('is expired at 400 with an expired token', async () => {
    const body = '<Error><Code>ExpiredToken</Code></Error>';
    assert.equal(await probe((_request, response) => response.writeHead(400).end(body)), 'LinkExpired');
  });

  test('is unknown if no answer arrives in time', async () => {
    assert.equal(await probe(() => {}, { timeoutMs: 30 }), undefined);
    await storage?.close();
    const gone = storage?.link() ?? assert.fail();
    storage = undefined;
    assert.equal(await probeLink(gone, options, live), undefined);
  });

  test('is unknown, and not asked, at an internal address or in a file, wherever links may lead', async () => {
    const guarded = createAgent({ allowPrivateAddresses: false, idleTimeoutMs: 60_000 });
    const life = await probe((_request, response) => response.end(), { agent: guarded });
    assert.equal(life, undefined);
    assert.equal(storage?.requests.length, 0);
    const file = requireLink(new URL(import.meta.url).href);
    assert.equal(await probeLink(file, { ...options, agent: guarded }, live), undefined);
    assert.equal(await probeLink(file, options, live), undefined);
    assert.equal(await probeLink(requireLink(`${new URL(import.meta.url).href}x`), options, live), undefined);
  });

  test('ends with the caller’s reason when aborted', async () => {
    const caller = new AbortController();
    const reason = new Error('stop');
    storage = await startStorage(() => caller.abort(reason));
    await assert.rejects(probeLink(storage.link(), options, caller.signal), reason);
  });
});

describe('the judgement of an answer', () => {
  const t = Date.parse('2026-11-28T12:00:00Z');
  const valid = { validFrom: t - 60_000, expiresAt: t + 3_600_000 };
  const past = { validFrom: t - 3_600_000, expiresAt: t - 1000 };
  const ahead = { validFrom: t + 4000, expiresAt: t + 3_600_000 };
  const table: readonly (readonly [number, string, string, object?])[] = [
    [200, '', 'valid'],
    [206, '', 'valid'],
    [416, '', 'valid'],
    [204, '', 'unknown'],
    [400, '<Code>ExpiredToken</Code>', 'expired', valid],
    [400, '<Code>TokenExpired</Code>', 'expired'],
    [400, 'This URL has expired.', 'expired'],
    [400, 'The link is expired', 'expired'],
    [403, '<Code>AccessDenied</Code><Message>Request has expired</Message>', 'expired'],
    [400, 'MalformedRequest', 'unknown'],
    [429, 'request expired', 'unknown'],
    [500, 'internal error', 'unknown', past],
    [503, 'token expired', 'unknown'],
    // By its own dates.
    [403, '', 'expired', past],
    [404, '', 'expired', past],
    [403, '', 'refused', valid],
    [404, '<Code>NoSuchKey</Code>', 'refused', valid],
    [403, '', 'refused'],
    [400, '<Code>AuthenticationFailed</Code>', 'refused', valid],
    [403, 'Signature not valid in the specified time frame', 'expired', past],
    [403, '', 'early', ahead],
    [403, '<Code>AuthenticationFailed</Code>', 'early', ahead],
    [403, '<Message>Request is not valid yet</Message>', 'early', valid],
    [404, '', 'refused', ahead],
  ];
  for (const [status, bodyStart, state, dates] of table) {
    test(`${status} "${bodyStart}" is ${state} ${JSON.stringify(dates ?? '')}`, () =>
      assert.equal(judgeAnswer({ status, bodyStart, clock: t, ...dates }).state, state));
  }

  test('names the host, the status, a known code, the dates of the link and what to check', () => {
    const said = (status: number, bodyStart: string, dates: object): string | undefined =>
      linkFault('s3.example.com', { status, bodyStart, clock: t, ...dates })?.message;
    assert.equal(
      said(403, '<Code>AccessDenied</Code><Message>SECRET</Message>', valid),
      'Storage s3.example.com returned 403 (AccessDenied) for a link valid until 2026-11-28T13:00:00Z. Check the bucket policy, its IP allow-list and the clocks',
    );
    assert.match(
      said(404, '', {}) ?? '',
      /returned 404 for a link that states no expiry. Check that the archive still exists$/,
    );
    assert.match(
      said(403, '', past) ?? '',
      /returned 403 for a link that expired at 2026-11-28T11:59:59Z\. A new/,
    );
    assert.match(
      said(400, 'ExpiredToken', valid) ?? '',
      /an expired link, before its own date 2026-11-28T13:00:00Z/,
    );
    assert.match(said(403, '', ahead) ?? '', /not valid yet, but from 2026-11-28T12:00:04Z\./);
    const early = linkFault('s3.example.com', { status: 403, bodyStart: '', clock: t, ...ahead });
    assert.equal(early?.retryAfterMs, 5000);
  });
});
