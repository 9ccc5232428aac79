import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { openBucket } from '#mirror/s3/open-bucket.ts';
import { runCommand } from '../../../support/command.ts';
import { createAuthority } from '../../../support/pki.ts';
import { startStorage } from '../../../support/storage-server.ts';
import { failsWith, hastyClock, sendError, signal } from './scripted-bucket.ts';

const root = resolve(import.meta.dirname, '../../../..');

test('the S3 library is imported by the files behind one dynamic import only', () => {
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  const importers = (of: RegExp): readonly string[] =>
    files.filter((name) => of.test(readFileSync(join(root, 'src', name), 'utf8'))).sort();
  const library = importers(/from '@(?:aws-sdk|smithy)\//);
  assert.deepEqual(library, [
    'mirror/s3/bucket-answer.ts',
    'mirror/s3/library-credentials.ts',
    'mirror/s3/request-signer.ts',
  ]);
  assert.deepEqual(importers(/from '[^']*\/(?:library-credentials|request-signer)\.ts'/), [
    'mirror/s3/bucket-client.ts',
    'mirror/s3/bucket-requests.ts',
    'mirror/s3/request-signer.ts',
  ]);
  assert.deepEqual(importers(/from '[^']*\/bucket-client\.ts'/), []);
  assert.deepEqual(importers(/import\('\.\/bucket-client\.ts'\)/), ['mirror/s3/open-bucket.ts']);
});

/** Runs in a process of its own, where only its environment says what there is. */
async function runScript(script: string, env: Readonly<Record<string, string>> = {}): Promise<string> {
  const { code, stdout, stderr } = await runCommand(
    [process.execPath, '--input-type=module', '--eval', script],
    { env },
  );
  assert.equal(code, 0, stderr);
  return stdout;
}

const fileUrl = (name: string): string => JSON.stringify(`file://${join(root, name)}`);

test('a program loads the S3 library when it opens a bucket, and not before', async () => {
  const stdout = await runScript(`
    import { registerHooks } from 'node:module';
    let loaded = 0;
    registerHooks({ resolve(name, context, next) {
      const found = next(name, context);
      if (/node_modules\\/@(aws-sdk|smithy)/.test(found.url)) loaded += 1;
      return found;
    } });
    const { openBucket } = await import(${fileUrl('src/mirror/s3/open-bucket.ts')});
    await import(${fileUrl('src/mirror/s3/ambient-identity.ts')});
    await import(${fileUrl('src/mirror/bucket-carrier.ts')});
    console.log(loaded === 0);
    const { systemClock } = await import(${fileUrl('src/platform/runtime/clock.ts')});
    const credentials = { kind: 'AccessKey', accessKeyId: 'a', secretAccessKey: 'b' };
    const bucket = await openBucket({ bucket: 'docs', region: 'eu-west-1', allowPrivateAddresses: false, credentials }, systemClock);
    console.log(loaded > 0);
    await bucket.close();
  `);
  assert.equal(stdout, 'true\ntrue\n');
});

test('no variable and no file of a home folder changes what a bucket is asked', async () => {
  const server = await startStorage((_request, response) => sendError(response, 404, 'NoSuchKey'));
  try {
    const stdout = await runScript(
      `
      import fs from 'node:fs';
      import { syncBuiltinESMExports } from 'node:module';
      const read = [];
      for (const [owner, name] of [[fs, 'readFile'], [fs, 'readFileSync'], [fs.promises, 'readFile'], [fs.promises, 'open']]) {
        const original = owner[name];
        owner[name] = function (path, ...rest) {
          if (String(path).includes('/home-of-a-test/')) read.push(String(path));
          return original.call(this, path, ...rest);
        };
      }
      syncBuiltinESMExports();
      const { openBucket } = await import(${fileUrl('src/mirror/s3/open-bucket.ts')});
      const { systemClock } = await import(${fileUrl('src/platform/runtime/clock.ts')});
      const bucket = await openBucket({
        bucket: 'docs', region: 'eu-west-1', endpoint: ${JSON.stringify(server.origin)}, pathStyle: true,
        isHttpAllowed: true, allowPrivateAddresses: true,
        credentials: { kind: 'AccessKey', accessKeyId: 'AKIATEST', secretAccessKey: 'b' },
      }, systemClock);
      console.log(await bucket.get('site/blob', new AbortController().signal));
      await bucket.close();
      console.log(read.join());
    `,
      {
        HOME: '/home-of-a-test/user',
        AWS_PROFILE: 'other',
        AWS_REGION: 'us-west-2',
        AWS_ACCESS_KEY_ID: 'AKIAOTHER',
        AWS_SECRET_ACCESS_KEY: 'other',
        AWS_ENDPOINT_URL: 'http://127.0.0.1:1',
        AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:1',
        AWS_USE_FIPS_ENDPOINT: 'true',
        AWS_MAX_ATTEMPTS: 'many',
      },
    );
    assert.equal(stdout, 'undefined\n\n');
    assert.match(
      server.requests[0]?.headers['authorization'] ?? '',
      /Credential=AKIATEST\/\d{8}\/eu-west-1\//,
    );
  } finally {
    await server.close();
  }
});

test('a bucket has its own host name, unless addresses are by path', async () => {
  for (const [pathStyle, host, path] of [
    [false, /^docs\.bucket\.localhost:/, '/site/blob'],
    [true, /^bucket\.localhost:/, '/docs/site/blob'],
  ] as const) {
    const server = await startStorage((_request, response) => response.end());
    const bucket = await openBucket(
      {
        bucket: 'docs',
        region: 'eu-west-1',
        endpoint: `http://bucket.localhost:${new URL(server.origin).port}`,
        pathStyle,
        isHttpAllowed: true,
        allowPrivateAddresses: true,
        proxy: { httpProxy: server.origin, httpsProxy: undefined, noProxy: undefined },
        credentials: { kind: 'AccessKey', accessKeyId: 'a', secretAccessKey: 'b' },
      },
      hastyClock([]),
    );
    try {
      await bucket.get('site/blob', signal);
      const [request] = server.requests;
      assert.match(request?.headers.host ?? '', host);
      assert.ok(request?.url?.endsWith(path), request?.url);
    } finally {
      await bucket.close();
      await server.close();
    }
  }
});

test('a name that leads to an internal address is refused when it is connected to', async () => {
  const stdout = await runScript(`
    import dns from 'node:dns';
    import { syncBuiltinESMExports } from 'node:module';
    const asked = [];
    dns.lookup = (name, _options, done) => {
      asked.push(name);
      done(null, [{ address: '10.0.0.7', family: 4 }]);
    };
    syncBuiltinESMExports();
    const { openBucket } = await import(${fileUrl('src/mirror/s3/open-bucket.ts')});
    const { systemClock } = await import(${fileUrl('src/platform/runtime/clock.ts')});
    const credentials = { kind: 'AccessKey', accessKeyId: 'a', secretAccessKey: 'b' };
    const bucket = await openBucket({ bucket: 'docs', region: 'eu-west-1', allowPrivateAddresses: false, credentials }, systemClock);
    await bucket.get('site/blob', new AbortController().signal).catch(({ code, message }) => console.log(code, message));
    console.log(asked.join());
    await bucket.close();
  `);
  assert.match(
    stdout,
    /^AddressNotAllowed Host s3\.eu-west-1\.amazonaws\.com of the bucket leads to a loopback/,
  );
  assert.match(stdout, /\ndocs\.s3\.eu-west-1\.amazonaws\.com\n$/);
});

test('a certificate counts if its CA certificate is among the extra ones', async () => {
  const authority = await createAuthority();
  const { certificatePem: cert, keyPem: key } = await authority.issueServer({ dns: [], ips: ['127.0.0.1'] });
  const server = await startStorage((_request, response) => sendError(response, 404, 'NoSuchKey'), {
    cert,
    key,
  });
  const open = (extraCaPem: string | undefined) =>
    openBucket(
      {
        bucket: 'docs',
        region: 'eu-west-1',
        endpoint: server.origin,
        pathStyle: true,
        allowPrivateAddresses: true,
        extraCaPem,
        credentials: { kind: 'AccessKey', accessKeyId: 'a', secretAccessKey: 'b' },
      },
      hastyClock([]),
    );
  const trusting = await open(authority.certificatePem);
  const other = await open(undefined);
  try {
    assert.equal(await trusting.get('site/blob', signal), undefined);
    const message = /not trusted \(UNABLE_TO_VERIFY_LEAF_SIGNATURE\)/;
    await assert.rejects(other.get('site/blob', signal), failsWith('CertificateNotTrusted', message));
  } finally {
    await Promise.all([trusting.close(), other.close()]);
    await server.close();
  }
});
