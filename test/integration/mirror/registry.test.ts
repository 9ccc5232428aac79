// The registry client against a real docker-registry: a bundle's way in and out, and what becomes of it when the storage,
// the password or the permission is not what it should be.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import { createServer, request as sendOnward } from 'node:http';
import { after, afterEach, before, describe, test } from 'node:test';
import type { Carrier } from '#mirror/carrier.ts';
import type { RegistryCredentials } from '#mirror/registry/docker-config.ts';
import type { RegistryOptions } from '#mirror/registry/registry-client.ts';
import {
  type DockerRegistry,
  damageFile,
  noRegistry,
  startDockerRegistry,
} from '../../support/docker-registry.ts';
import { noise } from '../../support/noise.ts';
import { createAuthority } from '../../support/pki.ts';
import { type RegistryTokens, startRegistryTokens } from '../../support/registry-tokens.ts';
import { portOf } from '../../support/storage-server.ts';
import {
  blobOf,
  closeOpened,
  faultOf,
  hastyClock,
  never,
  noProxy,
  openClient,
  readAll,
  sourceOf,
} from '../../unit/mirror/registry/scripted-registry.ts';

afterEach(closeOpened);

const password = 'hunter2-of-the-registry';
const login: RegistryCredentials = { kind: 'password', username: 'bot', password };
const mediaType = 'application/vnd.oci.image.manifest.v1+json';
const bytes = noise(3_000_000);
const blob = blobOf(bytes);
const config = Buffer.from('{}');

const open = (host: string, path: string, overrides: Partial<RegistryOptions> = {}): Carrier =>
  openClient(`oci://${host}/${path}`, { credentials: login, ...overrides });

/** As for a bundle: a config and one layer. `note` makes it another manifest. */
function manifestOf(note = ''): Buffer {
  const layers = [{ ...blob, mediaType: 'application/vnd.oci.image.layer.v1.tar+gzip' }];
  const described = { ...blobOf(config), mediaType: 'application/vnd.oci.image.config.v1+json' };
  const annotations = note === '' ? {} : { note };
  return Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType, config: described, layers, annotations }));
}

async function push(carrier: Carrier, tag: string, manifest = manifestOf()): Promise<void> {
  await carrier.writeBlob(blob, sourceOf(bytes.subarray(0, 1_000_000), bytes.subarray(1_000_000)), never);
  await carrier.writeBlob(blobOf(config), sourceOf(config), never);
  await carrier.writeManifest(tag, mediaType, manifest, never);
}

describe('a registry with logins', { skip: noRegistry }, () => {
  let registry: DockerRegistry;
  before(async () => {
    registry = await startDockerRegistry({ users: { bot: password } });
  });
  after(() => registry.close());

  test('takes a bundle, and returns it by tag and by digest', async () => {
    const carrier = open(registry.host, 'docs/site');
    assert.equal(await carrier.readManifest('v1', never), undefined);
    assert.deepEqual(await carrier.listTags(never), []);
    assert.equal(await carrier.hasBlob(blob, never), false);
    await push(carrier, 'v1');
    assert.equal(await carrier.hasBlob(blob, never), true);
    const manifest = manifestOf();
    assert.deepEqual(await carrier.readManifest('v1', never), manifest);
    assert.deepEqual(await carrier.readManifest(blobOf(manifest).digest, never), manifest);
    assert.ok((await readAll(carrier, blob)).equals(bytes));
    assert.deepEqual(await carrier.listTags(never), ['v1']);
    assert.deepEqual(await registry.openUploads('docs/site'), []);
    assert.equal(carrier.name, `oci://${registry.host}/docs/site`);
  });

  test('takes the same bundle again, and no other under its tag', async () => {
    const carrier = open(registry.host, 'docs/again');
    await push(carrier, 'v1');
    await push(carrier, 'v1');
    await faultOf(push(carrier, 'v1', manifestOf('other')), 'TagOccupied');
    assert.deepEqual(await carrier.readManifest('v1', never), manifestOf());
  });

  test('lets one of two clients have a tag that both write', async () => {
    const first = open(registry.host, 'docs/race');
    const second = open(registry.host, 'docs/race');
    await push(first, 'before');
    const results = await Promise.allSettled([
      push(first, 'v1', manifestOf('a')),
      push(second, 'v1', manifestOf('b')),
    ]);
    const tagged = await first.readManifest('v1', never);
    for (const [at, note] of ['a', 'b'].entries()) {
      const isTagged = tagged?.equals(manifestOf(note)) === true;
      const result = results[at];
      if (result?.status === 'rejected') await faultOf(Promise.reject(result.reason), 'TagOccupied');
      if (isTagged) assert.equal(result?.status, 'fulfilled');
    }
    assert.ok(results.some(({ status }) => status === 'fulfilled'));
  });

  test('is refused a wrong password, and none', async () => {
    for (const credentials of [{ ...login, password: 'wrong' } as const, undefined]) {
      const carrier = open(registry.host, 'docs/site', { credentials });
      await faultOf(carrier.readManifest('v1', never), 'Denied');
      await faultOf(push(carrier, 'v2'), 'Denied');
      await faultOf(readAll(carrier, blob), 'Denied');
      await faultOf(carrier.listTags(never), 'Denied');
      await faultOf(carrier.removeTag('v1', never), 'Denied');
    }
  });

  test('refuses a manifest whose blob is not there', async () => {
    const carrier = open(registry.host, 'docs/lacking');
    await carrier.writeBlob(blobOf(config), sourceOf(config), never);
    await faultOf(carrier.writeManifest('v1', mediaType, manifestOf(), never), 'BlobMissing');
    assert.equal(await carrier.readManifest('v1', never), undefined);
  });

  test('refuses bytes of another digest, and keeps no blob of them', async () => {
    const carrier = open(registry.host, 'docs/wrong');
    const wrong = { ...blob, digest: `sha256:${'0'.repeat(64)}` };
    await faultOf(carrier.writeBlob(wrong, sourceOf(bytes), never), 'BlobDamaged');
    assert.equal(await carrier.hasBlob(wrong, never), false);
  });

  test('lists all of many tags', async () => {
    const carrier = open(registry.host, 'docs/many');
    await push(carrier, 'v0000');
    const tags = Array.from({ length: 1_100 }, (_, at) => `v${String(at).padStart(4, '0')}`);
    await registry.linkTags('docs/many', tags, blobOf(manifestOf()).digest);
    // This version of the registry has no pages of tags, and sorts nothing.
    assert.deepEqual([...(await carrier.listTags(never))].sort(), tags);
  });

  test('removes a tag with its manifest, and does nothing where there is none', async () => {
    const carrier = open(registry.host, 'docs/removed');
    await push(carrier, 'v1', manifestOf('1'));
    await push(carrier, 'v2', manifestOf('2'));
    await carrier.removeTag('v1', never);
    await carrier.removeTag('v1', never);
    await carrier.removeTag('never-written', never);
    assert.deepEqual(await carrier.listTags(never), ['v2']);
    assert.equal(await carrier.readManifest(blobOf(manifestOf('1')).digest, never), undefined);
    assert.deepEqual(await carrier.readManifest('v2', never), manifestOf('2'));
    await push(carrier, 'v1', manifestOf('1'));
    assert.deepEqual(await carrier.readManifest('v1', never), manifestOf('1'));
  });
});

describe('a registry without logins', { skip: noRegistry }, () => {
  let registry: DockerRegistry;
  before(async () => {
    registry = await startDockerRegistry();
  });
  after(() => registry.close());

  test('that lost a blob says so, and takes it again', async () => {
    const carrier = open(registry.host, 'docs/lost', { credentials: undefined });
    await push(carrier, 'v1');
    await rm(registry.blobFile(blob.digest));
    await faultOf(readAll(carrier, blob), 'BlobMissing');
    assert.equal(await carrier.hasBlob(blob, never), false);
    await push(carrier, 'v1');
    assert.ok((await readAll(carrier, blob)).equals(bytes));
  });

  test('with a flipped bit in its storage is found out, blob or manifest', async () => {
    const carrier = open(registry.host, 'docs/damaged', { credentials: undefined });
    await push(carrier, 'v1', manifestOf('damaged'));
    const other = noise(10_000, 'second');
    await carrier.writeBlob(blobOf(other), sourceOf(other), never);
    await damageFile(registry.blobFile(blobOf(other).digest));
    await faultOf(readAll(carrier, blobOf(other)), 'BlobDamaged');
    const { digest } = blobOf(manifestOf('damaged'));
    await damageFile(registry.blobFile(digest));
    await faultOf(carrier.readManifest(digest, never), 'BlobDamaged');
  });

  test('with a cut blob in its storage is found out, and not asked to keep it', async () => {
    const carrier = open(registry.host, 'docs/cut', { credentials: undefined });
    const other = noise(10_000, 'third');
    await carrier.writeBlob(blobOf(other), sourceOf(other), never);
    await writeFile(registry.blobFile(blobOf(other).digest), other.subarray(0, 9_000));
    await faultOf(readAll(carrier, blobOf(other)), 'BlobDamaged');
    assert.equal(await carrier.hasBlob(blobOf(other), never), false);
  });

  test('goes on with a download that broke off, from where it stopped', async () => {
    const ranges: (string | undefined)[] = [];
    const proxy = createServer((request, response) => {
      const headers = { ...request.headers, host: registry.host };
      const onward = sendOnward(request.url ?? '', { method: request.method, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        if (request.method !== 'GET') return void answer.pipe(response);
        ranges.push(request.headers.range);
        let left = ranges.length < 3 ? 1_000_000 : Number.POSITIVE_INFINITY;
        answer.on('data', (chunk: Buffer) => {
          left -= chunk.length;
          if (left > 0) response.write(chunk);
          else response.destroy();
        });
        answer.on('end', () => response.end());
      });
      request.pipe(onward);
    });
    await once(proxy.listen(0, '127.0.0.1'), 'listening');
    const httpProxy = `http://127.0.0.1:${portOf(proxy)}`;
    const options = { credentials: undefined, proxy: { ...noProxy, httpProxy }, clock: hastyClock() };
    const carrier = open(registry.host, 'docs/ranges', options);
    try {
      await carrier.writeBlob(blob, sourceOf(bytes), never);
      assert.ok((await readAll(carrier, blob)).equals(bytes));
      assert.equal(ranges[0], undefined);
      assert.deepEqual(
        ranges.slice(1).map((range) => /^bytes=[1-9]\d+-$/.test(range ?? '')),
        [true, true],
      );
    } finally {
      proxy.closeAllConnections();
      proxy.close();
    }
  });
});

test('a registry that is stopped is unreachable, and goes on after its restart', {
  skip: noRegistry,
}, async () => {
  const first = await startDockerRegistry();
  await push(open(first.host, 'docs/site', { credentials: undefined }), 'v1');
  await first.stop();
  const clock = hastyClock();
  const gone = open(first.host, 'docs/site', { credentials: undefined, clock });
  assert.ok((await faultOf(gone.readManifest('v1', never), 'Unreachable')).isTemporary);
  const second = await startDockerRegistry({ folder: first.folder });
  try {
    const carrier = open(second.host, 'docs/site', { credentials: undefined });
    assert.deepEqual(await carrier.readManifest('v1', never), manifestOf());
  } finally {
    await second.close();
  }
});

test('a read-only registry is read, and says that it accepts no writes', { skip: noRegistry }, async () => {
  const writable = await startDockerRegistry();
  await push(open(writable.host, 'docs/site', { credentials: undefined }), 'v1');
  await writable.stop();
  const registry = await startDockerRegistry({ folder: writable.folder, isReadOnly: true });
  try {
    const carrier = open(registry.host, 'docs/site', { credentials: undefined });
    assert.ok((await readAll(carrier, blob)).equals(bytes));
    await push(carrier, 'v1');
    const fault = await faultOf(push(carrier, 'v2'), 'Denied');
    assert.match(fault.message, /returned 405 .*Let the registry accept pushes/);
    await faultOf(carrier.removeTag('v1', never), 'Denied');
  } finally {
    await registry.close();
  }
});

test('a registry without deletes says how tags can be removed', { skip: noRegistry }, async () => {
  const registry = await startDockerRegistry({ allowsDeletes: false });
  try {
    const carrier = open(registry.host, 'docs/site', { credentials: undefined });
    await push(carrier, 'v1');
    const fault = await faultOf(carrier.removeTag('v1', never), 'Denied');
    assert.match(fault.message, /Enable deletes in the registry/);
    assert.deepEqual(await carrier.listTags(never), ['v1']);
  } finally {
    await registry.close();
  }
});

test('a registry over https needs its CA certificate', { skip: noRegistry }, async () => {
  const authority = await createAuthority();
  const tls = await authority.issueServer({ dns: [], ips: ['127.0.0.1'] });
  const registry = await startDockerRegistry({ users: { bot: password }, tls });
  try {
    const options = { isHttpAllowed: false, extraCaPem: authority.certificatePem };
    const carrier = open(registry.host, 'docs/site', options);
    await push(carrier, 'v1');
    assert.ok((await readAll(carrier, blob)).equals(bytes));
    const distrusting = open(registry.host, 'docs/site', { isHttpAllowed: false });
    await faultOf(distrusting.readManifest('v1', never), 'CertificateNotTrusted');
  } finally {
    await registry.close();
  }
});

describe('a registry with a token endpoint', { skip: noRegistry }, () => {
  let tokens: RegistryTokens;
  let registry: DockerRegistry;
  before(async () => {
    const users = {
      bot: { password, actions: ['pull', 'push', 'delete'] },
      reader: { password, actions: ['pull'] },
    };
    tokens = await startRegistryTokens(users, { 'hunter2-refresh': 'bot' });
    registry = await startDockerRegistry({ tokens });
  });
  after(async () => {
    await registry.close();
    await tokens.close();
  });

  test('takes, returns and removes a bundle with one token for each kind of access', async () => {
    const carrier = open(registry.host, 'docs/site');
    await push(carrier, 'v1');
    assert.ok((await readAll(carrier, blob)).equals(bytes));
    await carrier.removeTag('v1', never);
    assert.equal(await carrier.readManifest('v1', never), undefined);
    assert.deepEqual(
      tokens.scopes.map((scope) => scope.replace('repository:docs/site:', '')),
      ['pull,push', 'pull', 'pull,push,delete'],
    );
  });

  test('exchanges a refresh token', async () => {
    const credentials = { kind: 'identityToken', identityToken: 'hunter2-refresh' } as const;
    await push(open(registry.host, 'docs/refreshed', { credentials }), 'v1');
    const wrong = { kind: 'identityToken', identityToken: 'hunter2-expired' } as const;
    await faultOf(
      open(registry.host, 'docs/refreshed', { credentials: wrong }).readManifest('v1', never),
      'Denied',
    );
  });

  test('lets a user who may only read do that, and names the permission that is missing', async () => {
    await push(open(registry.host, 'docs/readable'), 'v1');
    const credentials = { ...login, username: 'reader' };
    const carrier = open(registry.host, 'docs/readable', { credentials });
    assert.deepEqual(await carrier.readManifest('v1', never), manifestOf());
    assert.ok((await readAll(carrier, blob)).equals(bytes));
    assert.deepEqual(await carrier.listTags(never), ['v1']);
    assert.equal(await carrier.hasBlob(blob, never), true);
    const other = noise(10, 'fourth');
    const write = await faultOf(carrier.writeBlob(blobOf(other), sourceOf(other), never), 'Denied');
    assert.match(write.message, /for docs\/readable\. .* may write \(pull,push\)/);
    const remove = await faultOf(carrier.removeTag('v1', never), 'Denied');
    assert.match(remove.message, /may remove \(pull,push,delete\)/);
  });

  test('refuses a wrong password', async () => {
    const carrier = open(registry.host, 'docs/site', { credentials: { ...login, password: 'wrong' } });
    const fault = await faultOf(push(carrier, 'v1'), 'Denied');
    assert.ok(fault.message.includes(new URL(tokens.realm).host));
  });
});
