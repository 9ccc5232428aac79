// How a registry's challenge is answered: where credentials go, how long a token is used, and what a hostile token endpoint
// can do. Credentials must reach the registry and its token endpoint, and nothing else.

import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import type { RegistryCredentials } from '#mirror/registry/docker-config.ts';
import { createAuthority } from '../../../support/pki.ts';
import type { StorageAnswer } from '../../../support/storage-server.ts';
import {
  blobOf,
  bodyOf,
  closeOpened,
  faultOf,
  hastyClock,
  linesOf,
  login,
  never,
  type Overrides,
  password,
  refuse,
  serve,
  sourceOf,
  startRegistry,
} from './scripted-registry.ts';

afterEach(closeOpened);

const manifest = Buffer.from('{}');
const limit = { timeout: 30_000 };
const basic = `Basic ${Buffer.from(`bot:${password}`).toString('base64')}`;
const scope = (actions: string): string => `repository%3Adocs%2Fsite%3A${encodeURIComponent(actions)}`;

/** A registry that wants the token which its token endpoint gave last. */
async function withTokens(
  endpoint: StorageAnswer,
  overrides: Overrides & { readonly accepts?: (authorization: string | undefined) => boolean } = {},
) {
  const { accepts = (authorization) => authorization?.startsWith('Bearer t') === true, ...rest } = overrides;
  const tokens = await serve(endpoint);
  const challenge = `Bearer realm="${tokens.origin}/token",service="registry.example.com",scope="repository:docs/site:pull"`;
  const registry = await startRegistry(
    (request, response) => {
      if (!accepts(request.headers.authorization))
        response.writeHead(401, { 'www-authenticate': challenge }).end();
      else if (request.method === 'GET') response.end(manifest);
      else response.writeHead(request.method === 'HEAD' ? 200 : 202).end();
    },
    { credentials: login, ...rest },
  );
  return { ...registry, tokens };
}

const give =
  (token: unknown): StorageAnswer =>
  (_request, response) =>
    response.end(JSON.stringify(token));

describe('a bearer challenge', () => {
  test('is answered with a token for the scope, asked for with the password', async () => {
    const { carrier, requests, tokens } = await withTokens(give({ token: 't1', expires_in: 300 }));
    assert.deepEqual(await carrier.readManifest('v1', never), manifest);
    assert.deepEqual(
      requests.map(({ headers }) => headers.authorization),
      [undefined, 'Bearer t1'],
    );
    assert.deepEqual(linesOf(tokens.requests), [
      `GET /token?service=registry.example.com&scope=${scope('pull')}`,
    ]);
    assert.equal(tokens.requests[0]?.headers.authorization, basic);
  });

  test('is answered without credentials where there are none', async () => {
    const { carrier, tokens } = await withTokens(give({ access_token: 't1' }), { credentials: undefined });
    assert.deepEqual(await carrier.readManifest('v1', never), manifest);
    assert.equal(tokens.requests[0]?.headers.authorization, undefined);
  });

  test('is remembered: later requests start with a token, one for each scope', async () => {
    const { carrier, requests, tokens } = await withTokens(give({ token: 't1', expires_in: 300 }));
    await carrier.readManifest('v1', never);
    await carrier.readManifest('v2', never);
    await carrier.hasBlob(blobOf(manifest), never);
    // This registry keeps the tag.
    await faultOf(carrier.removeTag('v1', never), 'Unreachable');
    await carrier.hasBlob(blobOf(manifest), never);
    assert.deepEqual(
      tokens.requests.map(({ url }) => url?.split('scope=')[1]),
      ['pull', 'pull,push', 'pull,push,delete'].map(scope),
    );
    assert.equal(requests.filter(({ headers }) => headers.authorization === undefined).length, 1);
  });

  for (const [expiresIn, unusedAfterMs] of [
    [300, 290_000],
    [10, 5_000],
    [undefined, 50_000],
    ['soon', 50_000],
    [-1, 50_000],
  ] as const) {
    test(`a token that is valid for ${expiresIn} s is renewed after ${unusedAfterMs} ms`, async () => {
      let elapsed = 0;
      const clock = { ...hastyClock(), monotonic: () => elapsed };
      const { carrier, tokens } = await withTokens(give({ token: 't1', expires_in: expiresIn }), { clock });
      await carrier.readManifest('v1', never);
      elapsed = unusedAfterMs - 1;
      await carrier.readManifest('v1', never);
      assert.equal(tokens.requests.length, 1);
      elapsed = unusedAfterMs;
      await carrier.readManifest('v1', never);
      assert.equal(tokens.requests.length, 2);
    });
  }

  test('a token that is refused is replaced once', async () => {
    let revoked = false;
    const { carrier, tokens, requests } = await withTokens(
      (_request, response, count) => response.end(JSON.stringify({ token: `t${count}`, expires_in: 300 })),
      {
        accepts: (authorization) =>
          authorization?.startsWith('Bearer t') === true && !(revoked && authorization === 'Bearer t1'),
      },
    );
    await carrier.readManifest('v1', never);
    revoked = true;
    assert.deepEqual(await carrier.readManifest('v1', never), manifest);
    assert.deepEqual(
      requests.slice(2).map(({ headers }) => headers.authorization),
      ['Bearer t1', 'Bearer t2'],
    );
    assert.equal(tokens.requests.length, 2);
  });

  test('a token that is refused again is Denied', async () => {
    const { carrier, tokens, requests } = await withTokens(give({ token: 't1' }), { accepts: () => false });
    const fault = await faultOf(carrier.readManifest('v1', never), 'Denied');
    assert.match(
      fault.message,
      /returned 401.* for docs\/site\. Check that the credentials are valid and may read \(pull\)/,
    );
    assert.equal(requests.length, 2);
    assert.equal(tokens.requests.length, 1);
  });

  test('an upload that is challenged starts again with its first byte', async () => {
    const tokens = await serve(give({ token: 't1', expires_in: 300 }));
    const bytes = Buffer.alloc(200_000, 7);
    const kept: Buffer[] = [];
    let isChallenged = false;
    const { carrier } = await startRegistry((request, response) => {
      if (request.method !== 'PUT') {
        response.writeHead(request.method === 'HEAD' ? 404 : 202, { location: '/up' }).end();
        return;
      }
      bodyOf(request).then(
        (body) => {
          if (isChallenged) kept.push(body);
          const headers = { 'www-authenticate': `Bearer realm="${tokens.origin}/token"` };
          response.writeHead(isChallenged ? 201 : 401, headers).end();
          isChallenged = true;
        },
        () => {},
      );
    });
    await carrier.writeBlob(blobOf(bytes), sourceOf(bytes), never);
    assert.deepEqual(kept, [bytes]);
  });
});

describe('a refresh token', () => {
  const credentials: RegistryCredentials = { kind: 'identityToken', identityToken: 'secret+refresh/token' };

  test('is exchanged by a POST, and never sent to the registry', async () => {
    let form = '';
    const { carrier, requests, tokens } = await withTokens(
      (request, response) => {
        void bodyOf(request).then((body) => {
          form = body.toString();
          response.end(JSON.stringify({ access_token: 't1', refresh_token: 'other' }));
        });
      },
      { credentials },
    );
    assert.deepEqual(await carrier.readManifest('v1', never), manifest);
    assert.deepEqual(linesOf(tokens.requests), ['POST /token']);
    assert.deepEqual(Object.fromEntries(new URLSearchParams(form)), {
      grant_type: 'refresh_token',
      client_id: 'static-export-operator',
      refresh_token: 'secret+refresh/token',
      service: 'registry.example.com',
      scope: 'repository:docs/site:pull',
    });
    assert.deepEqual(
      requests.map(({ headers }) => headers.authorization),
      [undefined, 'Bearer t1'],
    );
  });

  test('that is refused with 400 is Denied', async () => {
    const { carrier } = await withTokens((_request, response) => refuse(response, 400, 'invalid_grant'), {
      credentials,
    });
    await faultOf(carrier.readManifest('v1', never), 'Denied');
  });

  test('is no answer to a basic challenge', async () => {
    const { carrier, requests } = await startRegistry(
      (_request, response) => response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end(),
      { credentials },
    );
    await faultOf(carrier.readManifest('v1', never), 'Denied');
    assert.equal(requests.length, 1);
  });
});

describe('a basic challenge', () => {
  const asksBasic: StorageAnswer = (request, response) => {
    if (request.headers.authorization === basic) response.end(manifest);
    else response.writeHead(401, { 'www-authenticate': 'Basic realm="Registry"' }).end();
  };

  test('is answered with the password, and remembered', async () => {
    const { carrier, requests } = await startRegistry(asksBasic, { credentials: login });
    await carrier.readManifest('v1', never);
    await carrier.readManifest('v1', never);
    assert.deepEqual(
      requests.map(({ headers }) => headers.authorization),
      [undefined, basic, basic],
    );
  });

  test('sends a password that is wrong only once', async () => {
    const credentials = { ...login, password: 'secret' };
    const { carrier, requests } = await startRegistry(asksBasic, { credentials });
    await faultOf(carrier.readManifest('v1', never), 'Denied');
    assert.equal(requests.length, 2);
    await faultOf(carrier.readManifest('v1', never), 'Denied');
    assert.equal(requests.length, 3);
  });

  test('without credentials is Denied', async () => {
    const { carrier, requests } = await startRegistry(asksBasic);
    const fault = await faultOf(carrier.readManifest('v1', never), 'Denied');
    assert.match(fault.message, /no credentials were sent/);
    assert.equal(requests.length, 1);
  });
});

test('a registry token is sent with the first request, and as it is', async () => {
  const credentials: RegistryCredentials = { kind: 'registryToken', registryToken: 'secret-token' };
  const good = await startRegistry((_request, response) => response.end(manifest), { credentials });
  await good.carrier.readManifest('v1', never);
  assert.equal(good.requests[0]?.headers.authorization, 'Bearer secret-token');
  const { carrier, requests, tokens } = await withTokens(give({ token: 't1' }), { credentials });
  await faultOf(carrier.readManifest('v1', never), 'Denied');
  assert.equal(requests.length, 1);
  assert.equal(tokens.requests.length, 0);
});

test('a registry that needs no credentials gets none', async () => {
  const { carrier, requests } = await startRegistry((_request, response) => response.end(manifest), {
    credentials: login,
  });
  await carrier.readManifest('v1', never);
  assert.equal(requests[0]?.headers.authorization, undefined);
});

describe('a hostile token endpoint', () => {
  const endless: StorageAnswer = (_request, response) => {
    const piece = Buffer.alloc(64 * 1024, 32);
    const feed = (): void => {
      while (response.write(piece));
    };
    response.on('drain', feed);
    feed();
  };
  const garbage: Readonly<Record<string, StorageAnswer>> = {
    'a page': (_request, response) => response.end('<html>secret'),
    'JSON without a token': give({ error: 'secret' }),
    'an empty token': give({ token: '' }),
    'a token that is not a text': give({ token: 5 }),
    'a token with a line feed': give({ token: 'secret\r\nx-injected: 1' }),
    'a token with a space': give({ token: 'a b' }),
    'an endless answer': endless,
    'a redirect': (_request, response) => response.writeHead(302, { location: '/secret' }).end(),
    'a 404': (_request, response) => response.writeHead(404).end(),
  };
  for (const [name, endpoint] of Object.entries(garbage)) {
    test(`that answers ${name} is NotARegistry`, limit, async () => {
      const { carrier, tokens } = await withTokens(endpoint);
      await faultOf(carrier.readManifest('v1', never), 'NotARegistry');
      assert.equal(tokens.requests.length, 1);
    });
  }

  test('that refuses the credentials is Denied, and names its own host', async () => {
    for (const status of [401, 403]) {
      const { carrier, tokens, host } = await withTokens((_request, response) =>
        refuse(response, status, 'UNAUTHORIZED'),
      );
      const fault = await faultOf(carrier.readManifest('v1', never), 'Denied');
      const who = `Token endpoint ${new URL(tokens.origin).host} of registry ${host}`;
      assert.ok(
        fault.message.startsWith(`${who} returned ${status} (UNAUTHORIZED) for docs/site`),
        fault.message,
      );
      // Docker's and GitLab's endpoints answer 403 where the project is missing or full.
      assert.equal(/the credentials are not valid/.test(fault.message), status === 401);
    }
  });

  test('that is overloaded is asked again', async () => {
    const { carrier, pauses } = await withTokens((_request, response, count) => {
      if (count < 3) response.writeHead(503, { 'retry-after': '5' }).end();
      else response.end(JSON.stringify({ token: 't1' }));
    });
    assert.deepEqual(await carrier.readManifest('v1', never), manifest);
    assert.deepEqual(pauses, [5000, 5000]);
  });
});

describe('a token endpoint', () => {
  test('over plain HTTP gets nothing from a registry over https', limit, async () => {
    const authority = await createAuthority();
    const { certificatePem: cert, keyPem: key } = await authority.issueServer({
      dns: [],
      ips: ['127.0.0.1'],
    });
    const overTls = { tls: { cert, key }, extraCaPem: authority.certificatePem };
    const { carrier, tokens } = await withTokens(give({ token: 't1' }), overTls);
    const fault = await faultOf(carrier.readManifest('v1', never), 'NotARegistry');
    assert.match(fault.message, /token endpoint that has no valid address over https/);
    assert.equal(tokens.requests.length, 0);
  });

  for (const realm of [
    '',
    'token',
    'ftp://127.0.0.1/',
    'http://user:secret@127.0.0.1/',
    'file:///etc/passwd',
  ]) {
    test(`at ${JSON.stringify(realm)} is refused`, async () => {
      const { carrier } = await startRegistry(
        (_request, response) =>
          response.writeHead(401, { 'www-authenticate': `Bearer realm="${realm}"` }).end(),
        { credentials: login },
      );
      await faultOf(carrier.readManifest('v1', never), 'NotARegistry');
    });
  }

  test('of a storage is never asked', async () => {
    const tokens = await serve(give({ token: 't1' }));
    const challenge = { 'www-authenticate': `Bearer realm="${tokens.origin}/token"` };
    const storage = await serve((_request, response) => response.writeHead(401, challenge).end());
    const { carrier } = await startRegistry(
      (_request, response) => response.writeHead(307, { location: `${storage.origin}/m` }).end(),
      { credentials: login },
    );
    await faultOf(carrier.readManifest('v1', never), 'Unreachable');
    assert.equal(tokens.requests.length, 0);
    assert.ok(storage.requests.every(({ headers }) => headers.authorization === undefined));
  });

  test('keeps the query of its realm', async () => {
    const tokens = await serve(give({ token: 't1' }));
    const { carrier } = await startRegistry((request, response) => {
      if (request.headers.authorization !== undefined) response.end(manifest);
      else
        response
          .writeHead(401, { 'www-authenticate': `Bearer realm="${tokens.origin}/token?tenant=a"` })
          .end();
    });
    await carrier.readManifest('v1', never);
    assert.deepEqual(linesOf(tokens.requests), [`GET /token?tenant=a&scope=${scope('pull')}`]);
  });
});

test('a refusal is not judged by the names of the repository and the user', async () => {
  const mediaType = 'application/vnd.oci.image.manifest.v1+json';
  const detail = [{ Name: 'team/protected-images', Action: 'push' }];
  for (const [message, username, code, words] of [
    ['no access', 'bot', 'Denied', /returned 403 \(DENIED\) for docs\/site\. Check/],
    ['user immutable may not push', 'immutable', 'Denied', /returned 403 \(DENIED\) for docs\/site\. Check/],
    ['the tag is immutable', 'bot', 'Protected', /returned 403 \(DENIED\) for a write to docs\/site\. /],
  ] as const) {
    const { carrier } = await startRegistry(
      (_request, response) =>
        response.writeHead(403).end(JSON.stringify({ errors: [{ code: 'DENIED', message, detail }] })),
      { credentials: { ...login, username } },
    );
    assert.match(
      (await faultOf(carrier.writeManifest('v1', mediaType, manifest, never), code)).message,
      words,
    );
  }
});
