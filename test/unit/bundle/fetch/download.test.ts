// Downloads over real sockets: what each answer of a storage means, and what a broken connection costs.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { createConnection } from 'node:net';
import { after, afterEach, describe, test } from 'node:test';
import { download } from '#bundle/fetch/download.ts';
import { type BundleLimits, defaultLimits } from '#bundle/limits.ts';
import { storeFull } from '#bundle/store/store-fault.ts';
import { type AgentOptions, createAgent, type HttpAgent } from '#platform/http/agent.ts';
import { type Clock, systemClock } from '#platform/runtime/clock.ts';
import type { Link } from '#platform/wire/link.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { noise } from '../../../support/noise.ts';
import { createAuthority } from '../../../support/pki.ts';
import {
  portOf,
  requireLink,
  type Storage,
  type StorageAnswer,
  signature,
  startStorage,
} from '../../../support/storage-server.ts';
import { words } from '../../../support/words.ts';

const archive = noise(300_000);
const strongEtag = '"v1"';
/** Real deadlines, no pauses. */
const hastyClock: Clock = { ...systemClock, after: async () => {} };

const opened: (Storage | HttpAgent)[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await ('link' in one ? one.close() : one.destroy());
});

async function storage(answer: StorageAnswer): Promise<Storage> {
  const started = await startStorage(answer);
  opened.push(started);
  return started;
}

interface Attempt {
  readonly limits?: Partial<BundleLimits>;
  readonly agent?: Partial<AgentOptions>;
  readonly allowPrivateAddresses?: boolean;
  readonly admit?: (archiveBytes: number) => Promise<void>;
  readonly clock?: Clock;
  readonly signal?: AbortSignal;
}

function bytesOf(link: Link, attempt: Attempt = {}): AsyncGenerator<Buffer> {
  const limits = { ...defaultLimits, idleTimeoutMs: 60_000, ...attempt.limits };
  const { allowPrivateAddresses = true } = attempt;
  const agent = createAgent({ allowPrivateAddresses, idleTimeoutMs: limits.idleTimeoutMs, ...attempt.agent });
  opened.push(agent);
  return download(
    link,
    {
      agent,
      clock: attempt.clock ?? hastyClock,
      limits,
      userAgent: 'static-export-operator/test',
      ...(attempt.admit && { admit: attempt.admit }),
    },
    attempt.signal ?? new AbortController().signal,
  );
}

async function fetchAll(link: Link, attempt?: Attempt): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(bytesOf(link, attempt)));
}

async function faultOf(link: Link, attempt?: Attempt): Promise<PublishableError> {
  try {
    await fetchAll(link, attempt);
  } catch (error) {
    assert.ok(error instanceof PublishableError, String(error));
    assert.ok(!error.message.includes('5ec2e7') && !error.message.includes('://'), error.message);
    return error;
  }
  return assert.fail('the download should have failed');
}

/** The first half of the archive, announced as whole; then the connection breaks. */
function breakOff(response: ServerResponse, headers: Readonly<Record<string, string>>): void {
  response.writeHead(200, { 'content-length': String(archive.length), ...headers });
  response.write(archive.subarray(0, 150_000), () => response.destroy());
}

function continueFrom(response: ServerResponse, start: number, etag: string): void {
  response.writeHead(206, {
    'content-range': `bytes ${start}-${archive.length - 1}/${archive.length}`,
    etag,
  });
  response.end(archive.subarray(start));
}

const startOf = (range: string | undefined): number => Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1]);

describe('what came', () => {
  test('is given whole, asked for by one plain GET', async () => {
    const { link, requests } = await storage((_request, response) => response.end(archive));
    assert.deepEqual(await fetchAll(link()), archive);
    assert.deepEqual(
      requests.map(({ method, headers }) => [
        method,
        headers.range,
        headers['accept-encoding'],
        headers['user-agent'],
      ]),
      [['GET', undefined, 'identity', 'static-export-operator/test']],
    );
  });

  test('is not decoded, whatever Content-Encoding says', async () => {
    const { link } = await storage((_request, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(archive),
    );
    assert.deepEqual(await fetchAll(link()), archive);
  });

  test('may be no more than allowed, announced or not', async () => {
    const limits = { maxArchiveBytes: archive.length - 1 };
    const announced = await storage((_request, response) =>
      response.writeHead(200, { 'content-length': archive.length }).end(archive),
    );
    const chunked = await storage((_request, response) => {
      response.write(archive.subarray(0, 1000));
      response.end(archive.subarray(1000));
    });
    assert.equal((await faultOf(announced.link(), { limits })).code, 'ArchiveTooLarge');
    assert.equal((await faultOf(chunked.link(), { limits })).code, 'ArchiveTooLarge');
  });

  test('is let go when the reader has enough', async () => {
    const closed = Promise.withResolvers<void>();
    const { link } = await storage((_request, response) => {
      response.on('close', closed.resolve);
      response.write(archive);
    });
    for await (const _first of bytesOf(link())) break;
    await closed.promise;
  });
});

test('the announced size is reported before any byte is read, and may end the download', async () => {
  const { link, requests } = await storage((_request, response) =>
    response.writeHead(200, { 'content-length': archive.length }).end(archive),
  );
  const sizes: number[] = [];
  const admit = async (bytes: number): Promise<void> => {
    sizes.push(bytes);
    throw storeFull();
  };
  assert.equal((await faultOf(link(), { admit })).code, 'StoreFull');
  assert.deepEqual([sizes, requests.length], [[archive.length], 1]);
});

describe('the length that the export API names', () => {
  const claimed = archive.length;
  const lengths: Readonly<Record<string, readonly [bytes: number, announced: boolean]>> = {
    'a shorter archive': [claimed - 1, true],
    'a longer archive': [claimed + 1, true],
    'a shorter archive whose length comes with its end': [claimed - 1, false],
    'a longer archive whose length comes with its end': [claimed + 1, false],
  };
  for (const [name, [bytes, isAnnounced]] of Object.entries(lengths)) {
    test(`${name} is refused with both numbers`, async () => {
      const body = Buffer.concat([archive, archive]).subarray(0, bytes);
      const { link, requests } = await storage((_request, response) => {
        response.writeHead(200, isAnnounced ? { 'content-length': bytes } : {}).end(body);
      });
      const fault = await faultOf(link().ofBytes(claimed));
      assert.deepEqual([fault.code, fault.kind], ['TruncatedArchive', 'refused']);
      assert.match(
        fault.message,
        new RegExp(`has ${bytes} bytes in the storage, and ${claimed} by the export API`),
      );
      assert.equal(requests.length, 1);
    });
  }

  test('nothing of an archive of another announced length is read', async () => {
    const { link } = await storage((_request, response) => {
      response.writeHead(200, { 'content-length': claimed }).end(archive);
    });
    const bytes = bytesOf(link().ofBytes(claimed + 1));
    await assert.rejects(bytes.next(), { code: 'TruncatedArchive' });
  });

  test('an archive of that length is given whole', async () => {
    const { link } = await storage((_request, response) => void response.writeHead(200).end(archive));
    assert.ok((await fetchAll(link().ofBytes(claimed).validUntil(undefined))).equals(archive));
  });
});

describe('an answer other than the archive', () => {
  const expired = '<?xml version="1.0"?><Error><Code>ExpiredToken</Code><Message>SECRET</Message></Error>';
  const table: readonly (readonly [number, string, string, string])[] = [
    [401, '', 'stall', 'LinkRefused'],
    [403, '<Error><Code>AccessDenied</Code></Error>', 'stall', 'LinkRefused'],
    [404, '', 'stall', 'LinkRefused'],
    [410, '', 'stall', 'LinkRefused'],
    [400, expired, 'wait', 'LinkExpired'],
    [400, 'Request has expired', 'wait', 'LinkExpired'],
    [400, 'bad request', 'retry', 'StorageUnavailable'],
    [418, '', 'retry', 'StorageUnavailable'],
    [429, 'request expired', 'retry', 'StorageUnavailable'],
    [500, '', 'retry', 'StorageUnavailable'],
    [503, 'token expired', 'retry', 'StorageUnavailable'],
    [204, '', 'retry', 'DownloadInterrupted'],
  ];
  for (const [status, body, kind, code] of table) {
    test(`${status} "${body.slice(0, 40)}" is ${kind} ${code}`, async () => {
      const { link, requests } = await storage((_request, response) => response.writeHead(status).end(body));
      const fault = await faultOf(link());
      assert.deepEqual([fault.kind, fault.code], [kind, code]);
      assert.ok(!fault.message.includes('SECRET'));
      assert.match(fault.message, /storage 127\.0\.0\.1:\d+ /i);
      assert.equal(requests.length, 1);
    });
  }

  test('a link that is valid in a moment is waited for, by the clock of the storage', async () => {
    const body = '<Error><Code>AccessDenied</Code><Message>Request is not valid yet</Message></Error>';
    const { link, requests } = await storage((_request, response, count) => {
      if (count < 3) response.writeHead(403).end(body);
      else response.end(archive);
    });
    assert.deepEqual(await fetchAll(link()), archive);
    assert.equal(requests.length, 3);
  });

  test('a link that is valid in an hour is reported with its wait', async () => {
    const start = new Date(Date.now() + 3_600_000).toISOString().replace(/[-:]|\.\d+/g, '');
    const { origin } = await storage((_request, response) => response.writeHead(403).end());
    const fault = await faultOf(
      requireLink(`${origin}/b?X-Amz-Date=${start}&X-Amz-Expires=900&${signature}`),
    );
    assert.deepEqual([fault.kind, fault.code], ['wait', 'LinkNotYetValid']);
    assert.ok(Math.abs((fault.retryAfterMs ?? 0) - 3_600_000) < 10_000);
  });

  test('an unreachable storage is transient, with the code of the system', async () => {
    const { link, close } = await startStorage(() => {});
    await close();
    const fault = await faultOf(link());
    assert.deepEqual([fault.kind, fault.code], ['retry', 'DownloadFailed']);
    assert.match(fault.message, /ECONNREFUSED/);
  });

  test('silence is transient', async () => {
    const { link } = await storage((_request, response) => {
      response.writeHead(200, { 'content-length': 10 }).write('x');
    });
    const fault = await faultOf(link(), { limits: { idleTimeoutMs: 2_000 } });
    assert.deepEqual([fault.kind, fault.code], ['retry', 'DownloadInterrupted']);
  });

  test('all the time allowed is transient, a broken connection in between or not', async () => {
    const expiring = new AbortController();
    const { link } = await storage((_request, response) => {
      response.write('x');
      expiring.abort(new DOMException('late', 'TimeoutError'));
    });
    const fault = await faultOf(link(), { clock: { ...hastyClock, deadline: () => expiring.signal } });
    assert.deepEqual([fault.kind, fault.code], ['retry', 'DownloadTimeout']);
  });

  test('the caller’s abort is its own reason', async () => {
    const caller = new AbortController();
    const reason = new Error('enough');
    const { link } = await storage((_request, response) => {
      response.write('x');
      caller.abort(reason);
    });
    await assert.rejects(fetchAll(link(), { signal: caller.signal }), reason);
  });
});

describe('a broken connection', () => {
  test('is resumed where the archive has a strong ETag', async () => {
    const { link, requests } = await storage((request, response, count) => {
      if (count === 1) breakOff(response, { etag: strongEtag });
      else continueFrom(response, startOf(request.headers.range), strongEtag);
    });
    assert.deepEqual(await fetchAll(link()), archive);
    assert.equal(requests[1]?.headers['if-range'], strongEtag);
    assert.ok(startOf(requests[1]?.headers.range) > 0);
  });

  test('is resumed again and again, but not for ever', async () => {
    const { link, requests } = await storage((request, response, count) => {
      if (count === 1) {
        breakOff(response, { etag: strongEtag });
        return;
      }
      const start = startOf(request.headers.range);
      response.writeHead(206, {
        'content-range': `bytes ${start}-${archive.length - 1}/${archive.length}`,
        etag: strongEtag,
      });
      response.write(archive.subarray(start, start + 10), () => response.destroy());
    });
    assert.equal((await faultOf(link())).code, 'DownloadInterrupted');
    assert.equal(requests.length, 5);
  });

  for (const [name, headers] of [
    ['without an ETag', {}],
    ['with a weak ETag', { etag: 'W/"v1"' }],
  ] as const) {
    test(`${name} asks for a fresh start`, async () => {
      const { link, requests } = await storage((_request, response) => breakOff(response, headers));
      const fault = await faultOf(link());
      assert.deepEqual([fault.kind, fault.code], ['retry', 'DownloadInterrupted']);
      assert.equal(requests.length, 1);
    });
  }

  const wrong: Readonly<Record<string, (response: ServerResponse, start: number) => void>> = {
    'the whole archive anew': (response) => void response.writeHead(200, { etag: '"v2"' }).end(archive),
    'a part of another archive': (response, start) => continueFrom(response, start, '"v2"'),
    'another part than asked for': (response, start) => continueFrom(response, start - 1, strongEtag),
    'a part without saying which': (response, start) =>
      void response.writeHead(206, { etag: strongEtag }).end(archive.subarray(start)),
    'a part of an archive of another size': (response, start) =>
      void response
        .writeHead(206, {
          etag: strongEtag,
          'content-range': `bytes ${start}-${archive.length}/${archive.length + 1}`,
        })
        .end(archive.subarray(start)),
  };
  for (const [name, answer] of Object.entries(wrong)) {
    test(`answered with ${name} asks for a fresh start`, async () => {
      const { link } = await storage((request, response, count) => {
        if (count === 1) breakOff(response, { etag: strongEtag });
        else answer(response, startOf(request.headers.range));
      });
      assert.equal((await faultOf(link())).code, 'DownloadInterrupted');
    });
  }

  test('whose link has expired meanwhile needs another link', async () => {
    const { link } = await storage((_request, response, count) => {
      if (count === 1) breakOff(response, { etag: strongEtag });
      else response.writeHead(403).end();
    });
    assert.equal((await faultOf(link().validUntil(0))).kind, 'wait');
  });

  test('of an archive without a length never passes for its end', async () => {
    const { link } = await storage((_request, response) => {
      response.writeHead(200);
      response.write(archive.subarray(0, 1000), () => response.destroy());
    });
    assert.equal((await faultOf(link())).code, 'DownloadInterrupted');
  });
});

describe('a redirect', () => {
  test('is followed, relative and absolute', async () => {
    const { link, requests } = await storage((request, response) => {
      if (request.url?.startsWith('/bundle')) response.writeHead(302, { location: '/second?x=1' }).end();
      else if (request.url === '/second?x=1') {
        response.writeHead(307, { location: `http://${request.headers.host}/third` }).end('moved');
      } else response.end(archive);
    });
    assert.deepEqual(await fetchAll(link()), archive);
    assert.equal(requests.length, 3);
  });

  test('without end is refused', async () => {
    const { link, requests } = await storage((_request, response, count) =>
      response.writeHead(302, { location: `/again-${count}` }).end(),
    );
    assert.equal((await faultOf(link(), { limits: { maxRedirects: 3 } })).code, 'TooManyRedirects');
    assert.equal(requests.length, 4);
  });

  for (const location of ['file:///etc/passwd', 'ftp://example.com/a', 'http://[', undefined]) {
    test(`to ${location ?? 'nowhere'} is refused`, async () => {
      const { link } = await storage((_request, response) =>
        response.writeHead(302, location === undefined ? {} : { location }).end(),
      );
      assert.equal((await faultOf(link())).code, 'InvalidRedirect');
    });
  }
});

describe('an internal address', () => {
  for (const host of words('127.0.0.1 [::1] localhost 2130706433 169.254.169.254 [::ffff:10.0.0.1]')) {
    test(`${host} is refused before anything is sent`, async () => {
      const { requests, origin } = await storage((_request, response) => response.end(archive));
      const port = new URL(origin).port;
      const fault = await faultOf(requireLink(`http://${host}:${port}/?${signature}`), {
        allowPrivateAddresses: false,
      });
      assert.deepEqual([fault.kind, fault.code], ['retry', 'PrivateLink']);
      assert.equal(requests.length, 0);
    });
  }
});

describe('TLS', () => {
  test('an extra CA certificate is trusted only if it is configured', async () => {
    const authority = await createAuthority();
    const { certificatePem, keyPem } = await authority.issueServer({ dns: [], ips: ['127.0.0.1'] });
    const started = await startStorage((_request, response) => response.end(archive), {
      cert: certificatePem,
      key: keyPem,
    });
    opened.push(started);
    const trusted = await fetchAll(started.link(), { agent: { extraCaPem: authority.certificatePem } });
    assert.deepEqual(trusted, archive);
    const fault = await faultOf(started.link());
    assert.deepEqual([fault.kind, fault.code], ['retry', 'CertificateNotTrusted']);
    assert.match(
      fault.message,
      /^Storage 127\.0\.0\.1:\d+ showed a certificate .*--extra-ca-file, or extraCa of the chart$/,
    );
  });
});

describe('a proxy', () => {
  const nothing = { httpProxy: undefined, httpsProxy: undefined, noProxy: undefined };

  test('is used where the settings say so', async () => {
    const origin = await storage((_request, response) => response.end(archive));
    const proxy = await storage((request, response) => {
      assert.equal(request.url, `${origin.origin}/bundle.tar.gz?${signature}`);
      response.end(archive);
    });
    const settings = { ...nothing, httpProxy: proxy.origin };
    assert.deepEqual(await fetchAll(origin.link(), { agent: { proxy: settings } }), archive);
    assert.deepEqual([origin.requests.length, proxy.requests.length], [0, 1]);
  });

  test('is used as a tunnel for https, and the extra CA certificate is trusted behind it', async () => {
    const authority = await createAuthority();
    const { certificatePem, keyPem } = await authority.issueServer({ dns: [], ips: ['127.0.0.1'] });
    const origin = await startStorage((_request, response) => response.end(archive), {
      cert: certificatePem,
      key: keyPem,
    });
    opened.push(origin);
    const tunnels: string[] = [];
    const proxy = createServer().on('connect', (request, client) => {
      tunnels.push(request.url ?? '');
      const target = createConnection(Number(new URL(origin.origin).port), '127.0.0.1', () => {
        client.write('HTTP/1.1 200 Connection established\r\n\r\n');
        target.pipe(client).pipe(target);
      });
      target.on('error', () => client.destroy());
      client.on('error', () => target.destroy());
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    proxy.unref();
    const httpsProxy = `http://127.0.0.1:${portOf(proxy)}`;
    const agent = { proxy: { ...nothing, httpsProxy }, extraCaPem: authority.certificatePem };
    assert.deepEqual(await fetchAll(origin.link(), { agent }), archive);
    assert.deepEqual(tunnels, [new URL(origin.origin).host]);
    proxy.close();
  });

  test('is passed by for the hosts that it is not for', async () => {
    const origin = await storage((_request, response) => response.end(archive));
    const proxy = await storage((_request, response) => response.writeHead(500).end());
    const settings = { httpProxy: proxy.origin, httpsProxy: undefined, noProxy: '127.0.0.1' };
    assert.deepEqual(await fetchAll(origin.link(), { agent: { proxy: settings } }), archive);
    assert.deepEqual([origin.requests.length, proxy.requests.length], [1, 0]);
  });
});

after(() => {
  assert.equal(opened.length, 0);
});
