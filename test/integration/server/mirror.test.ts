// A server and a mirror: a real registry and a real S3 service. Without a vendor and a link it serves the copy, and never
// anything but the content of the digest. One server is the real program.

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { formatReference } from '#mirror/mirror-reference.ts';
import {
  type DockerRegistry,
  damageFile,
  noRegistry,
  startDockerRegistry,
} from '../../support/docker-registry.ts';
import { noS3, startVersitygw, type Versitygw } from '../../support/versitygw.ts';
import { makeArchive, makeSite } from './archive.ts';
import { type Copied, copySite, mountSecret, reach, registrySecret, users } from './mirrored-site.ts';
import { prepareSite } from './served-site.ts';
import { prepareSiteHere } from './server-here.ts';

suite('a server and a registry', { skip: noRegistry }, () => {
  let registry: DockerRegistry;
  let copied: Copied;
  let ref: string;

  before(async () => {
    registry = await startDockerRegistry({ users });
    copied = await copySite(`oci://${registry.host}/docs/site`, { secret: registrySecret }, makeSite('one'));
    const { manifestDigest } = copied.image;
    ref = formatReference({ kind: 'oci', repository: `${registry.host}/docs/site`, manifestDigest });
  });
  after(() => registry?.close());

  test('serves the copy without a vendor and a link, from an empty disk', async () => {
    const served = await prepareSite();
    try {
      const secret = await mountSecret(served, { username: 'docs', password: users.docs });
      const source = ['--bundle-ref', ref, '--digest', copied.digest, '--version', 'v1'];
      await served.start(...source, '--mirror-credentials', secret, ...reach);
      const status = await served.until('the copy is served', ({ active }) => active !== null);
      assert.equal(status.active?.digest, copied.digest);
      assert.equal(status.source.kind, 'mirror');
      assert.match(await (await fetch(`${served.site}/`)).text(), /version one/);
      await served.settle();
      assert.doesNotMatch(served.output(), new RegExp(users.docs));
    } finally {
      await served.remove();
    }
  });

  test('a wrong password is an error with its remedy, and correcting the Secret is enough', async () => {
    const served = await prepareSiteHere();
    try {
      const secret = await mountSecret(served, { username: 'docs', password: 'wrong-pass-word' });
      const source = ['--bundle-ref', ref, '--digest', copied.digest];
      await served.start(...source, '--mirror-credentials', secret, ...reach);
      const { source: failed } = await served.until('it was refused', (one) => one.source.lastError !== null);
      assert.equal(failed.lastError?.code, 'Denied');
      assert.match(failed.lastError?.message ?? '', /returned 401/);
      await writeFile(join(secret, 'password'), users.docs);
      await served.until('the copy is served', ({ active }) => active !== null);
      assert.doesNotMatch(served.output(), /wrong-pass-word|pass-word-of-docs/);
    } finally {
      await served.remove();
    }
  });

  test('a copy with other content than the digest is never served', async () => {
    const served = await prepareSiteHere();
    try {
      const secret = await mountSecret(served, { username: 'docs', password: users.docs });
      const source = ['--bundle-ref', ref, '--digest', 'e'.repeat(64)];
      await served.start(...source, '--mirror-credentials', secret, ...reach);
      const { source: failed } = await served.until(
        'it was rejected',
        (one) => one.source.lastError !== null,
      );
      assert.equal(failed.lastError?.code, 'NotABundle');
      assert.equal((await fetch(`${served.site}/`)).status, 503);
    } finally {
      await served.remove();
    }
  });

  test('a private registry needs its flag', async () => {
    const served = await prepareSiteHere();
    try {
      await served.start('--bundle-ref', ref, '--digest', copied.digest, '--allow-http-mirror');
      const { source: failed } = await served.until('it was refused', (one) => one.source.lastError !== null);
      assert.equal(failed.lastError?.code, 'AddressNotAllowed');
    } finally {
      await served.remove();
    }
  });

  test('a damaged layer falls back to the link of the same bundle.json', async () => {
    const content = makeSite('two');
    const damaged = await copySite(`oci://${registry.host}/docs/site`, { secret: registrySecret }, content);
    await damageFile(registry.blobFile(damaged.image.layer.digest));
    const served = await prepareSiteHere();
    try {
      const secret = await mountSecret(served, { username: 'docs', password: users.docs });
      const archive = join(served.folder, 'two.tar.gz');
      await writeFile(archive, await makeArchive(content));
      const { manifestDigest } = damaged.image;
      const reference = formatReference({
        kind: 'oci',
        repository: `${registry.host}/docs/site`,
        manifestDigest,
      });
      const published = { version: 'v2', digest: damaged.digest, ref: reference };
      await served.mount(JSON.stringify({ ...published, bundleUrl: `file://${archive}` }));
      await served.start('--mirror-credentials', secret, '--allow-file-links', ...reach);
      const status = await served.until('the archive is served', ({ active }) => active !== null);
      assert.deepEqual([status.active?.digest, status.source.kind], [damaged.digest, 'link']);
      await served.said(/could not read the mirror/);
    } finally {
      await served.remove();
    }
  });
});

suite('a server and a bucket', { skip: noS3 }, () => {
  let service: Versitygw;

  before(async () => {
    service = await startVersitygw();
    await service.createBucket('docs-bundles');
  });
  after(() => service?.close());

  test('serves the copy with a key that may only read', async () => {
    const { accessKeyId, secretAccessKey } = service.rootKey;
    const data = { accessKeyId: Buffer.from(accessKeyId), secretAccessKey: Buffer.from(secretAccessKey) };
    const writer = { secret: { name: 'root', data }, endpoint: service.origin };
    const { digest } = await copySite('s3://docs-bundles/team', writer, makeSite('three'));
    const reader = await service.createReader('docs-bundles');
    const served = await prepareSiteHere();
    try {
      const secret = await mountSecret(served, {
        accessKeyId: reader.accessKeyId,
        secretAccessKey: reader.secretAccessKey,
      });
      const ref = formatReference({ kind: 's3', bucket: 'docs-bundles', prefix: 'team', digest });
      await served.start(
        ...['--bundle-ref', ref, '--digest', digest, '--mirror-credentials', secret],
        ...['--mirror-endpoint', service.origin, '--mirror-path-style', ...reach],
      );
      const status = await served.until('the copy is served', ({ active }) => active !== null);
      assert.deepEqual([status.active?.digest, status.source.kind], [digest, 'mirror']);
    } finally {
      await served.remove();
    }
  });
});

suite('servers of several clusters', { skip: noRegistry || noS3 }, () => {
  let registry: DockerRegistry;
  let service: Versitygw;

  before(async () => {
    registry = await startDockerRegistry({ users });
    service = await startVersitygw();
    await service.createBucket('docs-bundles');
  });
  after(async () => {
    await registry?.close();
    await service?.close();
  });

  test('serve the same content from one reference, and from another mirror, with empty disks and no link', async () => {
    const content = makeSite('four');
    const repository = `${registry.host}/docs/site`;
    const { digest, image } = await copySite(`oci://${repository}`, { secret: registrySecret }, content);
    const { accessKeyId, secretAccessKey } = service.rootKey;
    const key = { accessKeyId, secretAccessKey };
    const data = { accessKeyId: Buffer.from(accessKeyId), secretAccessKey: Buffer.from(secretAccessKey) };
    const writer = { secret: { name: 'root', data }, endpoint: service.origin };
    // Another layer with the same content.
    const other = await copySite('s3://docs-bundles/team', writer, content, 'Gzip');
    assert.equal(other.digest, digest);
    assert.notEqual(other.image.layer.digest, image.layer.digest);
    const { manifestDigest } = image;
    const login = { username: 'docs', password: users.docs };
    const shared = {
      ref: formatReference({ kind: 'oci', repository, manifestDigest }),
      secret: login,
      flags: [],
    };
    const bucket = {
      ref: formatReference({ kind: 's3', bucket: 'docs-bundles', prefix: 'team', digest }),
      secret: key,
      flags: ['--mirror-endpoint', service.origin, '--mirror-path-style'],
    };
    const clusters = await Promise.all(
      [shared, shared, bucket].map(async (mirror) => ({ mirror, served: await prepareSiteHere() })),
    );
    try {
      const served = clusters.map((cluster) => cluster.served);
      for (const { mirror, served: one } of clusters) {
        const secret = await mountSecret(one, mirror.secret);
        const source = ['--bundle-ref', mirror.ref, '--digest', digest, '--mirror-credentials', secret];
        await one.start(...source, ...mirror.flags, ...reach);
      }
      for (const one of served) {
        const { active, source } = await one.until('the copy is served', (status) => status.active !== null);
        assert.deepEqual([active?.digest, source.kind], [digest, 'mirror']);
      }
      for (const [path, body] of Object.entries(content)) {
        if (path === '404.html') continue;
        const answers = await Promise.all(served.map(({ site }) => fetch(`${site}/${path}`)));
        for (const answer of answers) {
          assert.equal(answer.status, 200);
          assert.equal(await answer.text(), body.toString());
        }
      }
    } finally {
      for (const { served: one } of clusters) await one.remove();
    }
  });
});
