// Blobs in both directions: what a hostile or broken registry can send, where its redirects may lead, and how an upload
// ends. Nothing may hand out a byte that the descriptor does not promise.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { after, afterEach, describe, test } from 'node:test';
import type { Descriptor } from '#mirror/carrier.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { noise } from '../../../support/noise.ts';
import { createAuthority } from '../../../support/pki.ts';
import { portOf, type StorageAnswer } from '../../../support/storage-server.ts';
import {
  blobOf,
  bodyOf,
  closeOpened,
  faultOf,
  hastyClock,
  linesOf,
  login,
  never,
  openClient,
  readAll,
  refuse,
  serve,
  sourceOf,
  startRegistry,
} from './scripted-registry.ts';

afterEach(closeOpened);

const bytes = noise(300_000);
const blob = blobOf(bytes);
const limit = { timeout: 30_000 };
const authority = await createAuthority();
const { certificatePem: cert, keyPem: key } = await authority.issueServer({
  dns: ['localhost'],
  ips: ['127.0.0.1'],
});
const overTls = { tls: { cert, key }, extraCaPem: authority.certificatePem };

/** Sends a part, and breaks the connection. */
const breakingOff =
  (part: Buffer): StorageAnswer =>
  (_request, response) => {
    response.writeHead(200, { 'content-length': String(bytes.length) });
    response.write(part, () => response.destroy());
  };

/** What was handed out before the failure. */
async function partOf(read: AsyncIterable<Buffer>): Promise<{ got: Buffer; error: unknown }> {
  const got: Buffer[] = [];
  try {
    for await (const piece of read) got.push(piece);
  } catch (error) {
    return { got: Buffer.concat(got), error };
  }
  return assert.fail('it should have failed');
}

describe('reading a blob', () => {
  test('streams it from one request', async () => {
    const { carrier, requests } = await startRegistry((_request, response) => response.end(bytes));
    assert.deepEqual(await readAll(carrier, blob), bytes);
    assert.deepEqual(linesOf(requests), [`GET blobs/${blob.digest}`]);
    assert.equal(requests[0]?.headers['accept-encoding'], 'identity');
    assert.equal(requests[0]?.headers.range, undefined);
    const empty = blobOf(Buffer.alloc(0));
    const none = await startRegistry((_request, response) => response.end());
    assert.equal((await readAll(none.carrier, empty)).length, 0);
  });

  test('that is absent is BlobMissing', async () => {
    const { carrier } = await startRegistry((_request, response) => refuse(response, 404, 'BLOB_UNKNOWN'));
    await faultOf(readAll(carrier, blob), 'BlobMissing');
  });

  for (const [name, sent, handedOut] of [
    [
      'one byte differs',
      Buffer.concat([bytes.subarray(0, -1), Buffer.from([(bytes.at(-1) ?? 0) ^ 1])]),
      bytes.length,
    ],
    ['a byte is missing', bytes.subarray(1), bytes.length - 1],
    ['it is empty', Buffer.alloc(0), 0],
  ] as const) {
    test(`ends with BlobDamaged after the last byte where ${name}`, async () => {
      const { carrier, requests } = await startRegistry((_request, response) => response.end(sent));
      const { got, error } = await partOf(carrier.readBlob(blob, never));
      assert.equal(got.length, handedOut);
      await faultOf(Promise.reject(error), 'BlobDamaged');
      assert.equal(requests.length, 1, 'no other attempt');
    });
  }

  test('never hands out more bytes than the blob has', limit, async () => {
    let isClosed: Promise<unknown> | undefined;
    const { carrier } = await startRegistry((_request, response) => {
      isClosed = once(response, 'close');
      const feed = (): void => {
        while (!response.destroyed && response.write(bytes));
        if (!response.destroyed) response.once('drain', feed);
      };
      feed();
    });
    const { got, error } = await partOf(carrier.readBlob(blob, never));
    assert.ok(got.length <= bytes.length);
    await faultOf(Promise.reject(error), 'BlobDamaged');
    await isClosed;
  });

  test('goes on where the connection broke', async () => {
    const { carrier, requests, pauses } = await startRegistry((request, response, count) => {
      const start = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
      if (count < 3) return breakingOff(bytes.subarray(start, start + 100_000))(request, response, count);
      response.writeHead(206, { 'content-range': `bytes ${start}-${bytes.length - 1}/${bytes.length}` });
      response.end(bytes.subarray(start));
    });
    // The second answer is a 200 from the start, of which only what is new counts.
    assert.deepEqual(await readAll(carrier, blob), bytes);
    assert.equal(requests[0]?.headers.range, undefined);
    assert.match(requests[1]?.headers.range ?? '', /^bytes=\d+-$/);
    assert.deepEqual(pauses, [1000, 2000]);
  });

  test('goes on with a registry that has no ranges', async () => {
    const { carrier, requests } = await startRegistry((request, response, count) => {
      if (count === 1) breakingOff(bytes.subarray(0, 100_000))(request, response, count);
      else response.end(bytes);
    });
    assert.deepEqual(await readAll(carrier, blob), bytes);
    assert.equal(requests.length, 2);
  });

  test('is complete where the connection broke after the last byte', async () => {
    const { carrier, requests } = await startRegistry((_request, response) => {
      response.writeHead(200, { 'content-length': String(bytes.length + 1) });
      response.write(bytes, () => response.destroy());
    });
    assert.deepEqual(await readAll(carrier, blob), bytes);
    assert.equal(requests.length, 1);
  });

  test('refuses a range that was not asked for', async () => {
    const { carrier } = await startRegistry((_request, response) =>
      response.writeHead(206, { 'content-range': `bytes 5-9/${bytes.length}` }).end(bytes.subarray(5, 10)),
    );
    await faultOf(readAll(carrier, blob), 'NotARegistry');
  });

  test('fails for now after four broken connections', async () => {
    const { carrier, requests, pauses } = await startRegistry(breakingOff(bytes.subarray(0, 10)));
    const fault = await faultOf(readAll(carrier, blob), 'Unreachable');
    assert.ok(fault.isTemporary);
    assert.equal(requests.length, 4);
    assert.deepEqual(pauses, [1000, 2000, 4000]);
  });

  test('ends a body that stands still after the idle timeout', limit, async () => {
    const { carrier, requests } = await startRegistry(
      (_request, response) => {
        response.writeHead(200, { 'content-length': String(bytes.length) });
        response.write(bytes.subarray(0, 10));
      },
      { limits: { idleTimeoutMs: 2_000 } },
    );
    const fault = await faultOf(readAll(carrier, blob), 'Unreachable');
    assert.match(fault.message, /UND_ERR_BODY_TIMEOUT/);
    assert.equal(requests.length, 4);
  });

  test('ends a body that drips at the end of its time, without another attempt', limit, async () => {
    const { carrier, requests } = await startRegistry(
      (_request, response) => {
        const drip = setInterval(() => response.write('x'), 20);
        response.on('close', () => clearInterval(drip));
      },
      { limits: { transferTimeoutMs: 3_001 } },
    );
    await faultOf(readAll(carrier, blob), 'Unreachable');
    assert.equal(requests.length, 1);
  });

  test('gives the reason of the signal, before and during the body', limit, async () => {
    const reason = new Error('the program stops');
    const { carrier } = await startRegistry((_request, response) => {
      response.writeHead(200, { 'content-length': String(bytes.length) });
      response.write(bytes.subarray(0, 10));
    });
    await assert.rejects(readAll(carrier, blob, AbortSignal.abort(reason)), reason);
    const during = new AbortController();
    const reading = carrier.readBlob(blob, during.signal)[Symbol.asyncIterator]();
    await reading.next();
    during.abort(reason);
    await assert.rejects(Promise.resolve(reading.next()), reason);
  });

  test('ends the request where the consumer stops', limit, async () => {
    const closed = Promise.withResolvers<void>();
    const { carrier } = await startRegistry((_request, response) => {
      response.on('close', closed.resolve);
      response.writeHead(200, { 'content-length': String(bytes.length) });
      response.write(bytes.subarray(0, 10));
    });
    for await (const _piece of carrier.readBlob(blob, never)) break;
    await closed.promise;
  });
});

describe('a redirect of a blob', () => {
  test('leads to a storage that gets no credentials', async () => {
    const storage = await serve((_request, response) => response.end(bytes));
    const { carrier, requests } = await startRegistry(
      (request, response) => {
        if (request.headers.authorization === undefined)
          response.writeHead(401, { 'www-authenticate': 'Basic realm="registry"' }).end();
        else response.writeHead(307, { location: `${storage.origin}/b?X-Amz-Signature=secret` }).end();
      },
      { credentials: login },
    );
    assert.deepEqual(await readAll(carrier, blob), bytes);
    assert.deepEqual(linesOf(storage.requests), ['GET /b?X-Amz-Signature=secret']);
    assert.equal(storage.requests[0]?.headers.authorization, undefined);
    assert.equal(requests.length, 2);
  });

  test('is followed five times and not more', async () => {
    const { carrier, requests, pauses } = await startRegistry((_request, response, count) =>
      response.writeHead(302, { location: `/elsewhere/${count}` }).end(),
    );
    const fault = await faultOf(readAll(carrier, blob), 'NotARegistry');
    assert.match(fault.message, /redirected more than 5 times/);
    assert.equal(requests.length, 6);
    assert.deepEqual(pauses, []);
  });

  for (const location of ['', 'ftp://storage.example.com/b', 'http://user:secret@127.0.0.1/b', 'http://[']) {
    test(`to ${JSON.stringify(location)} is refused`, async () => {
      const { carrier } = await startRegistry((_request, response) =>
        response.writeHead(302, location === '' ? {} : { location }).end(),
      );
      await faultOf(readAll(carrier, blob), 'NotARegistry');
    });
  }

  for (const location of ['http://169.254.169.254/latest/', 'http://[fe80::1]/b', 'http://168.63.129.16/b']) {
    test(`to ${location} is refused, though private hosts are allowed`, async () => {
      const { carrier } = await startRegistry((_request, response) =>
        response.writeHead(307, { location }).end(),
      );
      await faultOf(readAll(carrier, blob), 'AddressNotAllowed');
    });
  }

  test('from https to http is refused', limit, async () => {
    const storage = await serve((_request, response) => response.end(bytes));
    const { carrier } = await startRegistry(
      (_request, response) => response.writeHead(302, { location: `${storage.origin}/b` }).end(),
      overTls,
    );
    const fault = await faultOf(readAll(carrier, blob), 'NotARegistry');
    assert.match(fault.message, /over plain HTTP\. .*X-Forwarded-Proto/);
    assert.equal(storage.requests.length, 0);
  });

  test('is followed again where the storage refuses the signed address', async () => {
    const storage = await serve((_request, response, count) =>
      response.writeHead(count === 1 ? 403 : 200).end(bytes),
    );
    const { carrier, requests } = await startRegistry((_request, response, count) =>
      response.writeHead(307, { location: `${storage.origin}/b?signature=secret${count}` }).end(),
    );
    assert.deepEqual(await readAll(carrier, blob), bytes);
    assert.equal(requests.length, 2);
    assert.deepEqual(linesOf(storage.requests), ['GET /b?signature=secret1', 'GET /b?signature=secret2']);
  });
});

describe('the address guard', () => {
  const proxy = createServer();
  after(() => proxy.close());

  /** A registry of a public name, behind a proxy that plays it. */
  async function publicRegistry(answer: StorageAnswer) {
    let count = 0;
    proxy
      .removeAllListeners('request')
      .on('request', (request, response) => answer(request, response, ++count));
    if (!proxy.listening) await once(proxy.listen(0, '127.0.0.1'), 'listening');
    const httpProxy = `http://127.0.0.1:${portOf(proxy)}`;
    return openClient('oci://registry.example.com/docs/site', {
      allowPrivateAddresses: false,
      proxy: { httpProxy, httpsProxy: undefined, noProxy: undefined },
      credentials: login,
      clock: hastyClock(),
    });
  }

  for (const host of ['127.0.0.1:5000', '169.254.169.254', 'localhost', '[::1]:5000', '10.1.2.3']) {
    test(`refuses ${host} before any request`, async () => {
      const client = openClient(`oci://${host}/docs/site`, { allowPrivateAddresses: false });
      const refused = { code: 'AddressNotAllowed', isTemporary: false };
      await assert.rejects(client.readManifest('v1', never), refused);
    });
  }

  test('refuses a redirect to an internal host', async () => {
    const carrier = await publicRegistry((_request, response) =>
      response.writeHead(307, { location: 'http://169.254.169.254/latest/meta-data/' }).end(),
    );
    await faultOf(readAll(carrier, blob), 'AddressNotAllowed');
  });

  test('refuses an upload address and a token endpoint of an internal host', async () => {
    const location = await publicRegistry((request, response) => {
      if (request.method === 'HEAD') response.writeHead(404).end();
      else response.writeHead(202, { location: 'http://10.0.0.1/upload' }).end();
    });
    await faultOf(location.writeBlob(blob, sourceOf(bytes), never), 'AddressNotAllowed');
    const realm = await publicRegistry((_request, response) =>
      response.writeHead(401, { 'www-authenticate': 'Bearer realm="http://10.0.0.1/token"' }).end(),
    );
    await faultOf(readAll(realm, blob), 'AddressNotAllowed');
  });
});

describe('asking for a blob', () => {
  for (const [status, headers, expected] of [
    [200, { 'content-length': String(bytes.length) }, true],
    [200, {}, true],
    [200, { 'content-length': '5' }, false],
  ] as const) {
    test(`${status} with ${JSON.stringify(headers)} means ${expected}`, async () => {
      const { carrier, requests } = await startRegistry((_request, response) =>
        // Without a length the answer ends with its connection.
        response.writeHead(status, { connection: 'close', 'transfer-encoding': '', ...headers }).end(),
      );
      assert.equal(await carrier.hasBlob(blob, never), expected);
      assert.deepEqual(linesOf(requests), [`HEAD blobs/${blob.digest}`]);
    });
  }

  for (const status of [200, 206, 404]) {
    test(`404, and then ${status} to GET, means ${status !== 404}`, async () => {
      const { carrier, requests } = await startRegistry((request, response) =>
        response.writeHead(request.method === 'HEAD' ? 404 : status).end(),
      );
      assert.equal(await carrier.hasBlob(blob, never), status !== 404);
      const asked = linesOf(requests);
      assert.deepEqual(asked, [`HEAD blobs/${blob.digest}`, `GET blobs/${blob.digest}`]);
    });
  }

  test('never sends HEAD to a storage, whose addresses are signed for GET', async () => {
    for (const [status, expected] of [
      [206, true],
      [200, true],
      [404, false],
    ] as const) {
      const storage = await serve((_request, response) => response.writeHead(status).end(bytes));
      const { carrier } = await startRegistry((_request, response) =>
        response.writeHead(307, { location: `${storage.origin}/b` }).end(),
      );
      assert.equal(await carrier.hasBlob(blob, never), expected);
      assert.deepEqual(linesOf(storage.requests), ['GET /b']);
      assert.equal(storage.requests[0]?.headers.range, 'bytes=0-0');
    }
  });
});

/** A registry without the blob. `put` answers the upload. */
function uploads(location: string, put: StorageAnswer): StorageAnswer {
  return (request, response, count) => {
    if (request.method === 'HEAD') response.writeHead(404).end();
    else if (request.method === 'POST') response.writeHead(202, { location }).end();
    else put(request, response, count);
  };
}

/** An upload server that keeps what it got. */
function keeping(kept: Buffer[]): StorageAnswer {
  return (request, response) => {
    const keep = (body: Buffer): void => {
      kept.push(body);
      response.writeHead(201).end();
    };
    bodyOf(request).then(keep, () => {});
  };
}

const digestQuery = `digest=sha256%3A${blob.digest.slice('sha256:'.length)}`;

describe('writing a blob', () => {
  for (const [location, line] of [
    ['/v2/docs/site/blobs/uploads/1?_state=a%3D%2F+b', `PUT blobs/uploads/1?_state=a%3D%2F+b&${digestQuery}`],
    ['1', `PUT blobs/uploads/1?${digestQuery}`],
    ['/up', `PUT /up?${digestQuery}`],
  ] as const) {
    test(`sends it whole to the Location ${location}`, async () => {
      const kept: Buffer[] = [];
      const { carrier, requests } = await startRegistry(uploads(location, keeping(kept)));
      await carrier.writeBlob(blob, sourceOf(bytes.subarray(0, 1000), bytes.subarray(1000)), never);
      assert.deepEqual(kept, [bytes]);
      assert.deepEqual(linesOf(requests), [`HEAD blobs/${blob.digest}`, 'POST blobs/uploads/', line]);
      assert.equal(requests[1]?.headers['content-length'], '0');
      assert.equal(requests[2]?.headers['content-length'], String(bytes.length));
      assert.equal(requests[2]?.headers['content-type'], 'application/octet-stream');
    });
  }

  test('does nothing where it is there', async () => {
    const { carrier, requests } = await startRegistry((_request, response) => response.end());
    await carrier.writeBlob(blobOf(Buffer.alloc(0)), sourceOf(), never);
    assert.equal(requests.length, 1);
  });

  test('sends an upload server of another host no credentials', async () => {
    const kept: Buffer[] = [];
    const elsewhere = await serve(keeping(kept));
    const answer = uploads(`${elsewhere.origin}/up?token=secret`, keeping([]));
    const { carrier, requests } = await startRegistry(
      (request, response, count) => {
        if (request.headers.authorization !== undefined) answer(request, response, count);
        else response.writeHead(401, { 'www-authenticate': 'Basic realm="registry"' }).end();
      },
      { credentials: login },
    );
    await carrier.writeBlob(blob, sourceOf(bytes), never);
    assert.deepEqual(kept, [bytes]);
    assert.equal(elsewhere.requests[0]?.headers.authorization, undefined);
    assert.equal(requests.length, 3);
  });

  test('refuses an upload address over plain HTTP', limit, async () => {
    const kept: Buffer[] = [];
    const elsewhere = await serve(keeping(kept));
    const { carrier } = await startRegistry(uploads(`${elsewhere.origin}/up`, keeping(kept)), overTls);
    await faultOf(carrier.writeBlob(blob, sourceOf(bytes), never), 'NotARegistry');
    assert.deepEqual(kept, []);
  });

  test('starts again with the first byte after a broken connection and a lost upload', async () => {
    const kept: Buffer[] = [];
    let opens = 0;
    const { carrier, pauses } = await startRegistry(
      uploads('/up', (request, response, count) => {
        if (count === 3) request.once('data', () => response.destroy());
        else if (count === 6) refuse(response, 404, 'BLOB_UPLOAD_UNKNOWN');
        else keeping(kept)(request, response, count);
      }),
    );
    const open = () => {
      opens += 1;
      return sourceOf(bytes)();
    };
    await carrier.writeBlob(blob, open, never);
    assert.deepEqual(kept, [bytes]);
    assert.equal(opens, 3);
    assert.deepEqual(pauses, [1000, 2000]);
  });

  for (const [status, code, expected, words] of [
    [404, 'NAME_UNKNOWN', 'RepositoryMissing', /Create the repository first, as Amazon ECR requires/],
    [404, undefined, 'NotARegistry', /Check that the address/],
    [405, 'UNSUPPORTED', 'Denied', /Let the registry accept pushes/],
    [
      401,
      'UNAUTHORIZED',
      'Denied',
      /no credentials were sent\. Set credentials that may write \(pull,push\)/,
    ],
    [403, 'DENIED', 'Denied', /403 \(DENIED\) for docs\/site: no credentials were sent/],
    [301, undefined, 'NotARegistry', /returned 301 for an upload/],
    [200, undefined, 'NotARegistry', /returned 200 for an upload/],
  ] as const) {
    test(`a start refused with ${status} ${code} is ${expected}`, async () => {
      const { carrier } = await startRegistry((request, response) => {
        if (request.method === 'HEAD') response.writeHead(404).end();
        else if (code === undefined) response.writeHead(status).end('<p>secret');
        else refuse(response, status, code);
      });
      const fault = await faultOf(carrier.writeBlob(blob, sourceOf(bytes), never), expected);
      assert.match(fault.message, words);
    });
  }

  for (const [status, code, expected] of [
    [400, 'DIGEST_INVALID', 'BlobDamaged'],
    [413, 'SIZE_INVALID', 'Denied'],
    [400, 'SIZE_INVALID', 'Refused'],
    [307, '', 'NotARegistry'],
  ] as const) {
    test(`bytes refused with ${status} ${code} are ${expected}`, async () => {
      const { carrier } = await startRegistry(
        uploads('/up', (request, response) => {
          void bodyOf(request).then(() => refuse(response, status, code));
        }),
      );
      await faultOf(carrier.writeBlob(blob, sourceOf(bytes), never), expected);
    });
  }

  test(
    'reads a refusal that comes before the registry has read the bytes, as from a proxy',
    limit,
    async () => {
      const pieces = Array.from({ length: 20 }, (_, at) => noise(1024 * 1024, `${at}`));
      const { carrier, pauses } = await startRegistry(
        uploads('/up', (_request, response) => response.writeHead(413).end('secret')),
      );
      const large = blobOf(Buffer.concat(pieces));
      const fault = await faultOf(carrier.writeBlob(large, sourceOf(...pieces), never), 'Denied');
      assert.match(fault.message, /for a blob of 20971520 bytes of docs\/site\. Raise the size limit/);
      assert.deepEqual(pauses, []);
    },
  );

  for (const [name, open] of [
    ['has fewer bytes', sourceOf(bytes.subarray(1))],
    ['has more bytes', sourceOf(bytes, bytes.subarray(0, 1))],
    [
      'cannot be read',
      async function* () {
        yield bytes.subarray(0, 1000);
        throw Object.assign(new Error('secret path'), { code: 'EIO' });
      },
    ],
  ] as const) {
    test(`a source that ${name} is BlobDamaged, without another attempt`, limit, async () => {
      const { carrier, pauses } = await startRegistry(uploads('/up', keeping([])));
      const fault = await faultOf(carrier.writeBlob(blob, open, never), 'BlobDamaged');
      assert.match(fault.message, /Prepare the bundle again\.$/);
      assert.deepEqual(pauses, []);
    });
  }

  test('passes on a failure that its source names itself', async () => {
    const full = new PublishableError('SpoolFull', 'The spool is full. Make room.');
    const { carrier } = await startRegistry(uploads('/up', keeping([])));
    // biome-ignore lint/correctness/useYield: it fails at once
    const open = async function* (): AsyncGenerator<Uint8Array> {
      throw full;
    };
    await assert.rejects(carrier.writeBlob(blob, open, never), full);
  });

  test('closes its source, and gives the reason of the signal', limit, async () => {
    const reason = new Error('the program stops');
    const stop = new AbortController();
    const closed = Promise.withResolvers<void>();
    const open = async function* (): AsyncGenerator<Uint8Array> {
      try {
        yield bytes.subarray(0, 10);
        stop.abort(reason);
        yield bytes.subarray(10, 20);
        await new Promise((resolve) => stop.signal.addEventListener('abort', resolve));
      } finally {
        closed.resolve();
      }
    };
    const { carrier } = await startRegistry(uploads('/up', () => {}));
    await assert.rejects(carrier.writeBlob(blob, open, stop.signal), reason);
    await closed.promise;
  });

  test('holds no more than a few pieces of a large blob', limit, async () => {
    const size = 64 * 1024 * 1024;
    const piece = noise(1024 * 1024);
    const hash = createHash('sha256');
    for (let sent = 0; sent < size; sent += piece.length) hash.update(piece);
    const large: Descriptor = { ...blob, digest: `sha256:${hash.digest('hex')}`, size };
    let ahead = 0;
    let most = 0;
    const { carrier } = await startRegistry(
      uploads('/up', (request, response) => {
        request.on('data', (chunk: Buffer) => {
          ahead -= chunk.length;
        });
        request.on('end', () => response.writeHead(201).end());
      }),
    );
    const open = async function* (): AsyncGenerator<Uint8Array> {
      for (let sent = 0; sent < size; sent += piece.length) {
        ahead += piece.length;
        most = Math.max(most, ahead);
        yield piece;
      }
    };
    await carrier.writeBlob(large, open, never);
    assert.ok(most < 16 * 1024 * 1024, `${most} bytes ahead`);
  });
});
