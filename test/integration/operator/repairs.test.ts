// The operator as a process, with a real registry as the mirror of repaired bundles and of those with a search: which content is published,
// what servers send of it, and that other rules need no export.

import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import { noRegistry, startDockerRegistry } from '../../support/docker-registry.ts';
import { eventually } from '../../support/eventually.ts';
import { memoryBundle } from '../../support/memory-bundle.ts';
import { searchedSite } from '../../support/searched-site.ts';
import { declareSecret } from '../../support/secret-watch.ts';
import { prepareSite } from '../server/served-site.ts';
import { startEnvironment } from './operator-environment.ts';

const namespace = 'repairs';
const password = declareSecret('the password', 'pass-word-of-the-mirror');

const pageOf = (host: string): string =>
  `<html><head><link rel="canonical" href="https://${host}/guide"></head><body><h1>Guide</h1></body></html>`;
const home = '<html><head></head><body><a href="/guide">Guide</a></body></html>';
const exported = {
  'index.html': home,
  'guide.html': pageOf('undefined.docs.example.com'),
  'serve.js': 'require("http")',
  'start.bat': 'node serve.js',
  '.DS_Store': 'Finder',
};
const kept = { 'index.html': home, '.DS_Store': 'Finder' };
const repaired = { ...kept, 'guide.html': pageOf('docs.example.com') };
const withLaunchers = { ...exported, 'guide.html': pageOf('docs.example.com') };
const digestOf = (site: Readonly<Record<string, string>>): string => memoryBundle(site).index.digest;

suite('an operator that repairs', { skip: noRegistry }, async () => {
  const registry = await startDockerRegistry({ users: { docs: password } });
  const { world, vendor, reader, secret, staticExport, start } = await startEnvironment({
    namespaces: [namespace],
    isFast: true,
  });
  await world.apply(secret('mirror', { username: 'docs', password }));
  await start([`--allowed-mirror-hosts=http://${registry.host}`, '--allow-private-mirror-hosts']);
  vendor.script('docs.example.com', { content: exported });
  vendor.script('found.example.com', { content: exported });
  const canonical = { name: 'canonical', mode: 'Set', host: 'docs.example.com' };
  await world.apply(
    staticExport('docs', {
      mirror: { oci: { repository: `${registry.host}/docs/site`, secretRef: { name: 'mirror' } } },
      transform: { repair: { rules: [{ name: 'launchers' }, canonical] } },
    }),
    staticExport('bare', { transform: { repair: { rules: [canonical] } } }),
    staticExport('found', {
      mirror: { oci: { repository: `${registry.host}/docs/found`, secretRef: { name: 'mirror' } } },
      transform: { search: 'Enabled' },
    }),
  );

  after(() => registry.close());

  test('the digest and the copy are of the repaired content, and no link is published', async () => {
    await reader.awaitCondition('docs', 'Ready', 'True', 'Published');
    const { published, secret: output } = await reader.readOutput('docs');
    assert.equal(published.digest, digestOf(repaired));
    assert.equal(published.repair, 'launchers canonical=set=docs.example.com');
    assert.equal(published.link, undefined);
    assert.equal(output.data.bundleUrl, undefined);
    const exportedNow = await reader.awaitCondition('docs', 'Exported', 'True', 'Promoted');
    assert.match(exportedNow.message, /Repaired: launchers 2 files, canonical 1 file\./);
    await eventually('the event of the repair', async () => {
      const events = await reader.eventsOf('docs');
      return events.some(({ note }) => note.includes('Repaired: launchers 2 files')) ? true : undefined;
    });
  });

  test('a server sends the repaired pages', async () => {
    const { text } = await reader.readOutput('docs');
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
      assert.equal(status.active?.digest, digestOf(repaired));
      const guide = await fetch(`${served.site}/guide`);
      assert.equal(await guide.text(), pageOf('docs.example.com'));
    } finally {
      await served.remove();
    }
  });

  test('other rules give a new version of the same job, without an export', async () => {
    const { published: before } = await reader.readOutput('docs');
    const transform = { repair: { rules: [canonical] } };
    await world.api.patch('sx', 'docs', { spec: { transform } }, { namespace });
    const { published } = await eventually(
      'the version under other rules',
      async () => {
        const output = await reader.readOutput('docs');
        return output.published.version === before.version ? undefined : output;
      },
      { timeoutMs: 60_000 },
    );
    assert.equal(published.digest, digestOf(withLaunchers));
    assert.equal(published.jobId, before.jobId);
    assert.equal(vendor.starts('docs.example.com').length, 1);
    await reader.awaitCondition('docs', 'Ready', 'True', 'Published');
  });

  test('a rollback publishes the repaired copy of before', async () => {
    const { status } = await reader.read('sx', 'docs');
    const version = status.history.at(-1).version;
    await world.api.patch('sx', 'docs', { spec: { pin: { version } } }, { namespace });
    await reader.awaitCondition('docs', 'Ready', 'True', 'Pinned');
    const { published } = await reader.readOutput('docs');
    assert.equal(published.version, version);
    assert.equal(published.digest, digestOf(repaired));
  });

  test('a search is in the published content, and taking it away needs no export', async (t) => {
    const { digest } = await searchedSite(t, exported);
    await reader.awaitCondition('found', 'Ready', 'True', 'Published');
    const { published } = await reader.readOutput('found');
    assert.deepEqual(
      [published.digest, published.repair, published.repairRevision, published.link],
      [digest, 'search', 'search:1', undefined],
    );
    const condition = await reader.awaitCondition('found', 'Exported', 'True', 'Promoted');
    assert.match(condition.message, /Search added: 2 pages\./);
    await world.api.patch('sx', 'found', { spec: { transform: { search: 'Disabled' } } }, { namespace });
    const plain = await eventually(
      'the version without a search',
      async () => {
        const output = await reader.readOutput('found');
        return output.published.digest === digest ? undefined : output;
      },
      { timeoutMs: 60_000 },
    );
    assert.equal(plain.published.digest, digestOf(exported));
    assert.equal(plain.published.jobId, published.jobId);
    assert.equal(vendor.starts('found.example.com').length, 1);
  });

  test('without a mirror the resource stalls with the remedy, and starts no job', async () => {
    const stalled = await reader.awaitCondition('bare', 'Stalled', 'True', 'InvalidSpec');
    assert.match(stalled.message, /spec\.transform \(needs spec\.mirror, .*add a mirror/);
    assert.equal(vendor.starts('bare.example.com').length, 0);
  });

  test('no observed status broke a rule that other programs rely on', () => reader.assertRulesKept());
});
