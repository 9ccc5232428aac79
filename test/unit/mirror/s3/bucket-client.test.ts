import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Bucket } from '#mirror/s3/bucket.ts';
import type { BucketFaultCode } from '#mirror/s3/bucket-fault.ts';
import { failsWith, objectOf, readAll, sendError, signal, withScriptedBucket } from './scripted-bucket.ts';

const calls: Readonly<Record<string, (bucket: Bucket) => Promise<unknown>>> = {
  head: (bucket) => bucket.head('site/blob', signal),
  get: (bucket) => bucket.get('site/blob', signal),
  put: (bucket) => bucket.put(objectOf('text'), signal),
  list: (bucket) => Array.fromAsync(bucket.list('site/', signal)),
  delete: (bucket) => bucket.delete('site/blob', signal),
};

interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly words?: string;
  readonly fields?: string;
  readonly headers?: Record<string, string>;
  readonly fault: BucketFaultCode;
  readonly message?: RegExp;
  readonly isTemporary?: boolean;
}

const refusals: readonly Refusal[] = [
  { status: 403, code: 'AccessDenied', fault: 'Denied', message: /403 \(AccessDenied\).*it may do s3:/ },
  {
    status: 403,
    code: 'InvalidAccessKeyId',
    fault: 'Denied',
    message: /Check the access key and its secret/,
  },
  {
    status: 403,
    code: 'SignatureDoesNotMatch',
    fault: 'Denied',
    message: /Check the access key and its secret/,
  },
  { status: 400, code: 'ExpiredToken', fault: 'Denied', message: /session token has expired/ },
  { status: 400, code: 'InvalidToken', fault: 'Denied' },
  { status: 401, code: 'SomethingElse', fault: 'Refused', message: /401 \(SomethingElse\) to s3:/ },
  { status: 403, code: 'QuotaExceeded', fault: 'QuotaExceeded', message: /403 \(QuotaExceeded\): its quota/ },
  { status: 400, code: 'XMinioAdminBucketQuotaExceeded', fault: 'QuotaExceeded' },
  {
    status: 403,
    code: 'AccessDenied',
    words: 'Cannot upload files, storage cap exceeded.',
    fault: 'QuotaExceeded',
  },
  { status: 400, code: 'KMS.DisabledException', fault: 'Denied', message: /encryption key cannot be used/ },
  { status: 403, code: 'AccessDenied', words: 'no kms:Decrypt', fault: 'Denied', message: /kms:Decrypt\./ },
  { status: 403, code: 'AccessDenied', words: 'by object lock', fault: 'Protected' },
  {
    status: 403,
    code: 'AccessDenied',
    words: 'no s3:PutObject on resource "arn:aws:s3:::docs-unlocked/x" of bucket docs-locked',
    fault: 'Denied',
    message: /it may do s3:/,
  },
  {
    status: 403,
    code: 'InvalidAccessKeyId',
    words: 'over quota',
    fault: 'Denied',
    message: /and its secret/,
  },
  { status: 400, code: 'InvalidBucketName', fault: 'InvalidAddress', message: /name of the bucket/ },
  {
    status: 404,
    code: 'NoSuchBucket',
    fault: 'BucketMissing',
    message: /docs at 127\.0\.0\.1:\d+ returned 404/,
  },
  {
    status: 301,
    code: 'PermanentRedirect',
    headers: { 'x-amz-bucket-region': 'ap-southeast-2' },
    fault: 'WrongRegion',
    message: /Set the region to ap-southeast-2/,
  },
  {
    status: 400,
    code: 'AuthorizationHeaderMalformed',
    fields: '<Region>us-gov-west-1</Region>',
    fault: 'WrongRegion',
    message: /Set the region to us-gov-west-1/,
  },
  {
    status: 400,
    code: 'AuthorizationHeaderMalformed',
    fields: '<Region>visit evil.example.com</Region>',
    fault: 'WrongRegion',
    message: /Set the region of the bucket, and check the access key\.$/,
  },
  {
    status: 307,
    code: 'TemporaryRedirect',
    headers: { location: 'http://127.0.0.1:1/' },
    fault: 'WrongRegion',
  },
  { status: 403, code: 'RequestTimeTooSkewed', fault: 'ClockSkewed', message: /Set this machine's clock/ },
  { status: 503, code: 'SlowDown', fault: 'Unreachable', isTemporary: true },
  { status: 429, code: 'TooManyRequests', fault: 'Unreachable', isTemporary: true },
  { status: 500, code: 'InternalError', fault: 'Unreachable', isTemporary: true },
  { status: 503, code: 'SlowDownWrite', words: 'storage quota', fault: 'Unreachable', isTemporary: true },
  { status: 507, code: 'XMinioStorageFull', fault: 'QuotaExceeded' },
  { status: 400, code: 'RequestTimeout', fault: 'Unreachable', isTemporary: true },
  { status: 400, code: 'InvalidRequest', fault: 'Refused', message: /400 \(InvalidRequest\) to s3:/ },
  { status: 405, code: 'wJalrXUtnFEMI-secret', fault: 'NotABucket', message: /returned 405, which/ },
];

suite('a refusal of the service', () => {
  for (const { status, code, words, fields, headers, fault, message, isTemporary = false } of refusals) {
    test(`${status} ${code} ${words ?? ''} means ${fault}`, async () => {
      await withScriptedBucket(
        (request, response) => {
          const options = { ...(words && { words }), ...(fields && { fields }), ...(headers && { headers }) };
          if (request.method === 'HEAD') response.writeHead(status, { ...headers }).end();
          else sendError(response, status, code, options);
        },
        async ({ bucket }) => {
          for (const [name, call] of Object.entries(calls)) {
            // The answer to HEAD has no code; for 404 it cannot mean more than that.
            if (name === 'head' && ![400, 403].includes(status)) continue;
            await assert.rejects(call(bucket), failsWith(fault, message, isTemporary), name);
          }
        },
      );
    });
  }

  test('to HEAD without a reason is explained by a request for one byte', async () => {
    await withScriptedBucket(
      (request, response) => {
        if (request.method === 'HEAD') response.writeHead(400).end();
        else sendError(response, 400, 'ExpiredToken');
      },
      async ({ bucket, server }) => {
        await assert.rejects(bucket.head('site/blob', signal), failsWith('Denied', /token has expired/));
        assert.equal(server.requests.at(-1)?.headers['range'], 'bytes=0-0');
      },
    );
  });

  test('with declarations, which take the library long, is not parsed', async () => {
    await withScriptedBucket(
      (_request, response) =>
        response.writeHead(404).end('<!DOCTYPE a><Error><Code>NoSuchBucket</Code></Error>'),
      async ({ bucket }) => {
        await assert.rejects(bucket.get('site/blob', signal), failsWith('NotABucket', /returned 404, which/));
      },
    );
  });

  test('of a page that is not of S3 is judged by its status', async () => {
    await withScriptedBucket(
      (_request, response) => response.writeHead(403).end('<!DOCTYPE html><html><br></html>'),
      async ({ bucket }) => {
        await assert.rejects(bucket.get('site/blob', signal), failsWith('Denied', /returned 403\./));
      },
    );
  });

  test('that never ends is not read to its end', async () => {
    await withScriptedBucket(
      (_request, response) => {
        response.writeHead(403);
        const chunk = Buffer.alloc(64 * 1024, '<Error>');
        const send = (): void => {
          while (!response.destroyed && response.write(chunk));
        };
        response.on('drain', send).on('error', () => {});
        send();
      },
      async ({ bucket }) => {
        await assert.rejects(bucket.get('site/blob', signal), failsWith('NotABucket', /more than 192 KiB/));
      },
    );
  });
});

test('a page without the form of a list is not taken for an empty one', async () => {
  for (const page of [
    '<html>sign in</html',
    '<!DOCTYPE html><html></html>',
    '<html></html>',
    'sign in',
    '',
  ]) {
    await withScriptedBucket(
      (_request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end(page),
      async ({ bucket }) => {
        await assert.rejects(Array.fromAsync(bucket.list('site/', signal)), failsWith('NotABucket'), page);
      },
    );
  }
});

suite('a temporary failure', () => {
  test('is retried, with longer waits, until an attempt succeeds', async () => {
    await withScriptedBucket(
      (_request, response, count) => {
        if (count < 4) sendError(response, 503, 'SlowDown');
        else response.end('text');
      },
      async ({ bucket, pauses }) => {
        assert.equal(await readAll(await bucket.get('site/blob', signal)), 'text');
        assert.deepEqual(pauses, [500, 1000, 2000]);
      },
    );
  });

  test('is retried no sooner than Retry-After says', async () => {
    await withScriptedBucket(
      (_request, response, count) => {
        if (count < 2) sendError(response, 429, 'SlowDown', { headers: { 'retry-after': '7' } });
        else response.end('text');
      },
      async ({ bucket, pauses }) => {
        await bucket.get('site/blob', signal);
        assert.deepEqual(pauses, [7000]);
      },
    );
  });

  test('with a long Retry-After is left to the caller', async () => {
    await withScriptedBucket(
      (_request, response) => sendError(response, 503, 'SlowDown', { headers: { 'retry-after': '120' } }),
      async ({ bucket, server }) => {
        await assert.rejects(bucket.get('site/blob', signal), (error: unknown) => {
          failsWith('Unreachable', undefined, true)(error);
          assert.ok(typeof error === 'object' && error !== null && 'retryAfterMs' in error);
          assert.equal(error.retryAfterMs, 120_000);
          return true;
        });
        assert.equal(server.requests.length, 1);
      },
    );
  });

  test('ends after four attempts, or as many as the settings say', async () => {
    for (const attempts of [undefined, 2]) {
      await withScriptedBucket(
        (_request, response) => sendError(response, 500, 'InternalError'),
        async ({ bucket, server }) => {
          await assert.rejects(bucket.delete('site/blob', signal), failsWith('Unreachable', undefined, true));
          assert.equal(server.requests.length, attempts ?? 4);
        },
        { attempts },
      );
    }
  });

  test('of the connection is retried', async () => {
    await withScriptedBucket(
      (request, response, count) => {
        if (count < 3) request.socket.destroy();
        else response.end('text');
      },
      async ({ bucket }) => assert.equal(await readAll(await bucket.get('site/blob', signal)), 'text'),
    );
  });
});

suite('a body', () => {
  test('that breaks off is a temporary failure, and no second request', async () => {
    await withScriptedBucket(
      (_request, response) => {
        response.writeHead(200, { 'content-length': '100' });
        response.write('part', () => response.destroy());
      },
      async ({ bucket, server }) => {
        await assert.rejects(
          readAll(await bucket.get('site/blob', signal)),
          failsWith('Unreachable', undefined, true),
        );
        assert.equal(server.requests.length, 1);
      },
    );
  });

  test('that is left early gives its connection back', async () => {
    await withScriptedBucket(
      (_request, response) => response.end(Buffer.alloc(1_000_000)),
      async ({ bucket }) => {
        for (let count = 0; count < 10; count += 1) {
          const body = await bucket.get('site/blob', signal);
          assert.ok(body !== undefined);
          for await (const _ of body) break;
        }
      },
    );
  });

  test('that looks like an error is handed out as it is', async () => {
    const text = '<Error><Code>NoSuchKey</Code></Error>';
    await withScriptedBucket(
      (_request, response) => response.end(text),
      async ({ bucket }) => assert.equal(await readAll(await bucket.get('site/blob', signal)), text),
    );
  });

  test('that is not asked for any more ends with the reason of the signal', async () => {
    const abort = new AbortController();
    await withScriptedBucket(
      (_request, response) => {
        response.writeHead(200, { 'content-length': '100' });
        response.write('part');
      },
      async ({ bucket }) => {
        const body = await bucket.get('site/blob', abort.signal);
        assert.ok(body !== undefined);
        const reading = async (): Promise<void> => {
          for await (const _ of body) abort.abort(new Error('the operator stops'));
        };
        await assert.rejects(reading(), /the operator stops/);
      },
    );
  });
});

suite('a write', () => {
  test('asks that nothing is overwritten, and signs its SHA-256 and size', async () => {
    await withScriptedBucket(
      (_request, response) => response.end(),
      async ({ bucket, server }) => {
        const object = objectOf('text');
        assert.equal(await bucket.put(object, signal), 'written');
        const [request] = server.requests;
        assert.ok(request !== undefined);
        const { headers } = request;
        assert.equal(headers['if-none-match'], '*');
        assert.equal(headers['x-amz-content-sha256'], object.sha256);
        assert.equal(headers['content-length'], '4');
        assert.match(headers['authorization'] ?? '', /SignedHeaders=[^,]*x-amz-content-sha256/);
        // A bucket with a default retention wants the sum; a trailer breaks services that know none.
        assert.equal(headers['x-amz-checksum-sha256'], Buffer.from(object.sha256, 'hex').toString('base64'));
        const extra = Object.keys(headers).filter((name) =>
          /sdk-checksum|trailer|^expect|content-encoding/.test(name),
        );
        assert.deepEqual(extra, []);
      },
    );
  });

  test('sends no sum to a service that knows none, with its condition where it knows that', async () => {
    const sent: string[] = [];
    for (const knowsConditions of [true, false]) {
      await withScriptedBucket(
        (request, response) => {
          const { headers, method = '' } = request;
          const hasSum = headers['x-amz-checksum-sha256'] !== undefined;
          const hasCondition = headers['if-none-match'] !== undefined;
          sent.push(`${method} ${hasSum} ${hasCondition}`);
          if (method === 'HEAD') response.writeHead(404).end();
          else if (hasCondition && !knowsConditions) sendError(response, 501, 'NotImplemented');
          else if (hasSum)
            sendError(response, 501, 'NotImplemented', { words: 'Header x-amz-checksum-sha256' });
          else response.end();
        },
        async ({ bucket }) => {
          assert.equal(await bucket.put(objectOf('text'), signal), 'written');
          assert.equal(await bucket.put(objectOf('more', { replaces: true }), signal), 'written');
        },
      );
    }
    const known = ['PUT true true', 'PUT false true', 'PUT false false'];
    const unknown = [
      'PUT true true',
      'HEAD false false',
      'PUT true false',
      'PUT false false',
      'PUT false false',
    ];
    assert.deepEqual(sent, [...known, ...unknown]);
  });

  test('of what is there leaves it', async () => {
    await withScriptedBucket(
      (_request, response) => sendError(response, 412, 'PreconditionFailed'),
      async ({ bucket }) => assert.equal(await bucket.put(objectOf('text'), signal), 'exists'),
    );
  });

  test('that replaces asks for no condition', async () => {
    await withScriptedBucket(
      (_request, response) => response.end(),
      async ({ bucket, server }) => {
        assert.equal(await bucket.put(objectOf('text', { replaces: true }), signal), 'written');
        assert.equal(server.requests[0]?.headers['if-none-match'], undefined);
      },
    );
  });

  for (const [what, status, expected] of [
    ['that is there', 200, 'exists'],
    ['that is not there', 404, 'written'],
  ] as const) {
    test(`of an object ${what}, to a service without conditions, asks first`, async () => {
      await withScriptedBucket(
        (request, response) => {
          if (request.method === 'HEAD') response.writeHead(status).end();
          else if (request.headers['if-none-match'] === undefined) response.end();
          else sendError(response, 501, 'NotImplemented');
        },
        async ({ bucket, server }) => {
          assert.equal(await bucket.put(objectOf('text'), signal), expected);
          const methods = server.requests.map(({ method }) => method);
          assert.deepEqual(methods, expected === 'exists' ? ['PUT', 'HEAD'] : ['PUT', 'HEAD', 'PUT']);
        },
      );
    });
  }

  test('opens its source for each attempt, and the library prints nothing', async (t) => {
    const warn = t.mock.method(console, 'warn');
    let opened = 0;
    const open = async function* (): AsyncGenerator<Buffer> {
      opened += 1;
      yield Buffer.from('text');
    };
    await withScriptedBucket(
      (request, response, count) => {
        const bytes: Buffer[] = [];
        request.on('data', (chunk) => bytes.push(chunk));
        request.on('end', () => {
          if (count < 3) sendError(response, count === 1 ? 503 : 409, 'ConditionalRequestConflict');
          else response.writeHead(Buffer.concat(bytes).toString() === 'text' ? 200 : 400).end();
        });
      },
      async ({ bucket }) => {
        assert.equal(await bucket.put(objectOf('text', { open }), signal), 'written');
        assert.equal(opened, 3);
        assert.equal(warn.mock.callCount(), 0);
      },
    );
  });

  test('that is refused before its body is sent reports the refusal, and closes its source', async () => {
    let isClosed = false;
    const open = async function* (): AsyncGenerator<Buffer> {
      try {
        for (let sent = 0; sent < 400; sent += 1) yield Buffer.alloc(100_000);
      } finally {
        isClosed = true;
      }
    };
    await withScriptedBucket(
      (_request, response) => sendError(response, 403, 'AccessDenied', { headers: { connection: 'close' } }),
      async ({ bucket }) => {
        const object = objectOf('', { size: 40_000_000, open });
        await assert.rejects(bucket.put(object, signal), failsWith('Denied'));
        assert.ok(isClosed);
      },
    );
  });

  for (const [what, answer, fault, message] of [
    ['is refused without a body too', 403, 'QuotaExceeded', /403 \(QuotaExceeded\)/],
    ['is begun in parts', 200, 'Unreachable', /did not answer or broke off/],
    ['is unknown in parts', 501, 'Unreachable', /did not answer or broke off/],
  ] as const) {
    test(`that is broken off each time and ${what} is ${fault}`, async () => {
      const begun =
        '<InitiateMultipartUploadResult><UploadId>id-1</UploadId></InitiateMultipartUploadResult>';
      await withScriptedBucket(
        (request, response) => {
          if (request.method === 'PUT') request.socket.destroy();
          else if (request.method === 'DELETE') sendError(response, 403, 'AccessDenied');
          else if (answer === 200) response.end(begun);
          else sendError(response, answer, answer === 403 ? 'QuotaExceeded' : 'NotImplemented');
        },
        async ({ bucket, server }) => {
          const failure = failsWith(fault, message, fault === 'Unreachable');
          await assert.rejects(bucket.put(objectOf('text', { replaces: true }), signal), failure);
          const sent = server.requests.map(({ method, url }) => `${method} ${url?.split('?')[1]}`);
          assert.deepEqual(sent.slice(4), [
            'POST uploads=',
            ...(answer === 200 ? ['DELETE uploadId=id-1'] : []),
          ]);
        },
      );
    });
  }

  for (const [what, size] of [
    ['more', 3],
    ['fewer', 5],
  ] as const) {
    test(`of a source with ${what} bytes than announced is refused`, async () => {
      await withScriptedBucket(
        (request, response) => request.resume().on('end', () => response.end()),
        async ({ bucket }) => {
          await assert.rejects(bucket.put(objectOf('text', { size }), signal), failsWith('ContentRefused'));
        },
      );
    });
  }

  test('with an error of its source ends with that error, and is not retried', async () => {
    const failure = new Error('the disk failed');
    const open = async function* (): AsyncGenerator<Buffer> {
      yield Buffer.from('te');
      throw failure;
    };
    await withScriptedBucket(
      (request, response) => request.resume().on('end', () => response.end()),
      async ({ bucket, server }) => {
        await assert.rejects(bucket.put(objectOf('text', { open }), signal), failure);
        assert.ok(server.requests.length <= 1);
      },
    );
  });
});

suite('a list', () => {
  const page = (keys: readonly string[], next?: string): string =>
    `<?xml version="1.0"?><ListBucketResult>${keys.map((key) => `<Contents><Key>${key}</Key><Size>7</Size><LastModified>2026-11-25T11:00:00.000Z</LastModified></Contents>`).join('')}${next === undefined ? '<IsTruncated>false</IsTruncated>' : `<IsTruncated>true</IsTruncated><NextContinuationToken>${next}</NextContinuationToken>`}</ListBucketResult>`;

  test('is read page by page, without keys of other prefixes', async () => {
    await withScriptedBucket(
      (request, response) => {
        const isSecond = request.url?.includes('continuation-token=a%2Fb%20c') === true;
        response.end(isSecond ? page(['site/two', 'other/three']) : page(['site/one'], 'a/b c'));
      },
      async ({ bucket }) => {
        const modifiedAt = Date.parse('2026-11-25T11:00:00Z');
        assert.deepEqual(await Array.fromAsync(bucket.list('site/', signal)), [
          { key: 'site/one', size: 7, modifiedAt },
          { key: 'site/two', size: 7, modifiedAt },
        ]);
      },
    );
  });

  test('without keys is empty', async () => {
    await withScriptedBucket(
      (_request, response) => response.end(page([])),
      async ({ bucket }) => assert.deepEqual(await Array.fromAsync(bucket.list('site/', signal)), []),
    );
  });

  test('that says there is more, but not where, is refused', async () => {
    await withScriptedBucket(
      (_request, response) =>
        response.end('<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>'),
      async ({ bucket }) => {
        await assert.rejects(Array.fromAsync(bucket.list('site/', signal)), failsWith('NotABucket'));
      },
    );
  });

  test('that always names a next page ends', async () => {
    await withScriptedBucket(
      (_request, response) => response.end(page([], 'again')),
      async ({ bucket, server }) => {
        await assert.rejects(Array.fromAsync(bucket.list('site/', signal)), failsWith('NotABucket'));
        assert.equal(server.requests.length, 200);
      },
    );
  });
});

suite('the clock of a machine', () => {
  const hourMs = 3_600_000;

  test('that is wrong is corrected by the answer of the service', async () => {
    let signedAt: string | undefined;
    const sentHours: string[] = [];
    await withScriptedBucket(
      (request, response, count) => {
        const sentAt = new Date(Date.now() + 2 * hourMs);
        response.setHeader('date', sentAt.toUTCString());
        sentHours.push(sentAt.toISOString().slice(0, 13).replaceAll('-', ''));
        signedAt = String(request.headers['x-amz-date']);
        if (request.method === 'HEAD' && count === 1) response.writeHead(403).end();
        else if (count <= 2) sendError(response, 403, 'RequestTimeTooSkewed');
        else response.writeHead(200, { 'content-length': '4' }).end();
      },
      async ({ bucket }) => {
        assert.equal((await bucket.head('site/blob', signal))?.size, 4);
        // An hour of the service may end between its answer and the request that follows.
        assert.ok(sentHours.includes(signedAt?.slice(0, 11) ?? ''), `${signedAt} of ${sentHours.join()}`);
      },
    );
  });

  test('is blamed if the service refuses its own time', async () => {
    await withScriptedBucket(
      (_request, response) => {
        response.setHeader('date', new Date(Date.now() + 2 * hourMs).toUTCString());
        sendError(response, 403, 'RequestTimeTooSkewed');
      },
      async ({ bucket, server }) => {
        await assert.rejects(bucket.get('site/blob', signal), failsWith('ClockSkewed'));
        assert.equal(server.requests.length, 2);
      },
    );
  });
});

test('absent is done for a delete, and undefined for a read', async () => {
  await withScriptedBucket(
    (request, response) => {
      if (request.method === 'HEAD') response.writeHead(404).end();
      else sendError(response, 404, 'NoSuchKey');
    },
    async ({ bucket }) => {
      await bucket.delete('site/blob', signal);
      assert.equal(await bucket.get('site/blob', signal), undefined);
      assert.equal(await bucket.head('site/blob', signal), undefined);
    },
  );
});

test('a call that is not wanted any more ends with the reason of its signal', async () => {
  const abort = new AbortController();
  await withScriptedBucket(
    () => abort.abort(new Error('the operator stops')),
    async ({ bucket }) => {
      await assert.rejects(bucket.get('site/blob', abort.signal), /the operator stops/);
      await assert.rejects(bucket.get('site/blob', abort.signal), /the operator stops/);
    },
  );
});

test('a key is sent as it is, whatever its characters', async () => {
  await withScriptedBucket(
    (_request, response) => response.end(),
    async ({ bucket, server }) => {
      await bucket.get("site/a b+c/../ü'(1)", signal);
      assert.equal(server.requests[0]?.url, '/docs/site/a%20b%2Bc/../%C3%BC%27%281%29');
    },
  );
});
