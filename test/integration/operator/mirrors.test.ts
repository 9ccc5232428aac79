// The operator as a process, with a real registry and a real S3 service as mirrors: what it publishes with a copy, what it
// says of a mirror that refuses, and that servers and rollbacks need no vendor afterwards.

import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import { parse } from 'yaml';
import { noRegistry, startDockerRegistry } from '../../support/docker-registry.ts';
import { eventually } from '../../support/eventually.ts';
import { declareSecret } from '../../support/secret-watch.ts';
import { noS3, startVersitygw } from '../../support/versitygw.ts';
import { prepareSite } from '../server/served-site.ts';
import { startEnvironment } from './operator-environment.ts';

const namespace = 'mirrors';
const password = declareSecret('the password', 'pass-word-of-the-mirror');
const wrongPassword = declareSecret('the wrong password', 'not-the-pass-word');

suite('an operator and mirrors', { skip: noRegistry || noS3 }, async () => {
  const oci = (path: string, secretName = 'mirror') => ({
    oci: { repository: `${registry.host}/${path}`, secretRef: { name: secretName } },
  });

  const [registry, s3] = await Promise.all([
    startDockerRegistry({ users: { docs: password } }),
    startVersitygw(),
  ]);
  await s3.createBucket('docs');
  const { accessKeyId, secretAccessKey } = s3.rootKey;
  const { world, vendor, reader, secret, staticExport, start } = await startEnvironment({
    namespaces: [namespace],
    isFast: true,
  });
  await world.apply(
    secret('mirror', { username: 'docs', password }),
    secret('wrong-mirror', { username: 'docs', password: wrongPassword }),
    secret('bucket', { accessKeyId, secretAccessKey }),
  );
  await start([
    `--allowed-mirror-hosts=http://${registry.host},http://${new URL(s3.origin).host}`,
    '--allow-private-mirror-hosts',
    '--request-timeout=5s',
  ]);
  const s3Mirror = { endpoint: s3.origin, bucket: 'docs', prefix: 'sites/bucket', pathStyle: true };
  await world.apply(
    staticExport('docs', { mirror: oci('docs/site') }),
    staticExport('linkless', { mirror: oci('docs/linkless'), output: { link: 'Never' } }),
    staticExport('denied', { mirror: oci('docs/denied', 'wrong-mirror') }),
    staticExport('elsewhere', {
      mirror: { oci: { repository: 'registry.example.com/docs', secretRef: { name: 'mirror' } } },
    }),
    staticExport('bucket', {
      mirror: { s3: { ...s3Mirror, secretRef: { name: 'bucket' } }, compression: 'Gzip' },
    }),
  );

  after(() => Promise.all([registry.close(), s3.close()]));

  test('a version is published with the reference of its copy, in every output', async () => {
    await reader.awaitCondition('docs', 'Mirrored', 'True', 'Copied');
    await reader.awaitCondition('docs', 'Ready', 'True', 'Published');
    const { published, text } = await reader.readOutput('docs');
    assert.match(published.ref ?? '', new RegExp(`^oci://${registry.host}/docs/site@sha256:[0-9a-f]{64}$`));
    assert.equal(text('ref'), published.ref);
    const { version, digest, ref } = published;
    const map = await reader.read('configmap', 'docs-bundle');
    assert.equal(map.data.ref, ref);
    assert.deepEqual(parse(map.data['values.yaml']), {
      staticExport: { enabled: true, version, ref, digest },
    });
  });

  test('a bucket gets the same tree', async () => {
    await reader.awaitCondition('bucket', 'Mirrored', 'True', 'Copied');
    const { published } = await reader.readOutput('bucket');
    assert.equal(published.ref, `s3://docs/sites/bucket/bundles/${published.digest}.json`);
  });

  test('a mirror that refuses is named with the remedy, and nothing is published until it accepts', async () => {
    const denied = await reader.awaitCondition('denied', 'Mirrored', 'False', 'Denied');
    assert.match(denied.message, /401/);
    const elsewhere = await reader.awaitCondition('elsewhere', 'Mirrored', 'False', 'HostNotAllowed');
    assert.match(elsewhere.message, /registry\.example\.com/);
    assert.equal(vendor.issues('elsewhere.example.com'), 0);
    await assert.rejects(reader.readOutput('denied'), /NotFound/);
    await world.apply(secret('wrong-mirror', { username: 'docs', password }));
    await reader.awaitCondition('denied', 'Ready', 'True', 'Published', 200_000);
  });

  test('without links a server starts from the copy alone, and a rollback needs no vendor', async () => {
    await reader.awaitCondition('linkless', 'Ready', 'True', 'Published');
    const first = await reader.readOutput('linkless');
    assert.equal(first.published.link, undefined);
    assert.equal(first.secret.data.bundleUrl, undefined);
    assert.equal(await reader.condition('linkless', 'LinkFresh'), undefined);
    vendor.script('linkless.example.com', { content: { 'index.html': '<h1>second</h1>' } });
    await reader.request('linkless', 'second');
    await eventually(
      'the second version',
      async () => {
        const { published } = await reader.readOutput('linkless');
        return published.version === first.published.version ? undefined : published;
      },
      { timeoutMs: 120_000 },
    );
    await vendor.close();
    const pin = { spec: { pin: { version: first.published.version } } };
    await world.api.patch('sx', 'linkless', pin, { namespace });
    await reader.awaitCondition('linkless', 'Ready', 'True', 'Pinned');
    const { text, published } = await reader.readOutput('linkless');
    assert.equal(published.digest, first.published.digest);
    const served = await prepareSite();
    try {
      const folder = join(served.folder, 'mirror');
      await mkdir(folder);
      await Promise.all([
        writeFile(join(folder, 'username'), 'docs'),
        writeFile(join(folder, 'password'), password),
        served.mount(text('bundle.json')),
      ]);
      await served.start('--mirror-credentials', folder, '--allow-private-mirror', '--allow-http-mirror');
      const status = await served.until('the copy is served', ({ active }) => active !== null);
      assert.equal(status.active?.digest, first.published.digest);
      assert.equal(status.source.kind, 'mirror');
    } finally {
      await served.remove();
    }
  });

  test('no observed status broke a rule that other programs rely on', () => reader.assertRulesKept());
});
