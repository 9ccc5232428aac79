// Targets that write the reference of a mirrored copy, on a real API server with a real registry and a real git server: what
// a ConfigMap, a HelmRelease and a file get, and that the site's chart renders these values.

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import { parse, parseAllDocuments } from 'yaml';
import { noRegistry, startDockerRegistry } from '../../support/docker-registry.ts';
import { eventually } from '../../support/eventually.ts';
import { startGitServer } from '../../support/gitops/git-server.ts';
import { createAuthority } from '../../support/pki.ts';
import { declareSecret, seeText } from '../../support/secret-watch.ts';
import { startEnvironment } from './operator-environment.ts';
import { openDefinition } from './resources.ts';

const namespace = 'mirrored-targets';
const token = declareSecret('the token', 'glpat-Yt61mR4wQc87');
const password = declareSecret('the password', 'pass-word-of-the-mirror');
const siteChart = join(import.meta.dirname, '../../../charts/static-export-site');
const values = '# ours\nstaticExport:\n  version: none # for now\nserver: { replicas: 3 }\n';
const consent = { 'staticexport.dev/allow-from': `${namespace}/docs` };

suite('targets with the reference of a copy', { skip: noRegistry }, async () => {
  const mirrorAt = (path: string) => ({
    oci: { repository: `${registry.host}/${path}`, secretRef: { name: 'mirror' } },
  });
  const write = ['version', 'ref'];
  const inMap = { name: 'map', type: 'Values', write, values: { kind: 'ConfigMap', name: 'docs-values' } };

  const authority = await createAuthority();
  const [registry, server] = await Promise.all([
    startDockerRegistry({ users: { docs: password } }),
    startGitServer({
      login: [{ username: 'git', password: token }],
      tls: await authority.issueServer({ dns: ['localhost'], ips: ['127.0.0.1'] }),
    }),
  ]);
  const { world, vendor, reader, secret, staticExport, start } = await startEnvironment({
    namespaces: [namespace],
    targets: { helmReleases: [{ namespace, names: ['docs'] }] },
  });
  const fleet = await server.createRepository('fleet', { 'docs.yaml': values });
  await world.apply(openDefinition('helm.toolkit.fluxcd.io', 'v2', 'HelmRelease'));
  await world.controlPlane.awaitDefinitions();
  await world.apply(
    secret('mirror', { username: 'docs', password }),
    secret('fleet', { token, 'ca.crt': authority.certificatePem }),
    {
      ...{ apiVersion: 'v1', kind: 'ConfigMap', data: { 'values.yaml': values } },
      metadata: { name: 'docs-values', namespace, annotations: consent },
    },
    {
      ...{ apiVersion: 'helm.toolkit.fluxcd.io/v2', kind: 'HelmRelease' },
      metadata: { name: 'docs', namespace, annotations: consent },
      spec: { interval: '5m', values: { server: { replicas: 3 } } },
    },
  );
  await start([
    `--allowed-mirror-hosts=http://${registry.host}`,
    '--allow-private-mirror-hosts',
    `--allowed-git-hosts=127.0.0.1:${new URL(server.origin).port}`,
    '--allow-private-git-hosts',
    '--request-timeout=5s',
  ]);
  const git = { url: fleet.url, path: 'docs.yaml', secretRef: { name: 'fleet' } };
  await world.apply(
    staticExport('docs', {
      mirror: mirrorAt('docs/site'),
      targets: [
        inMap,
        { name: 'flux', type: 'HelmRelease', write, helmRelease: { name: 'docs' } },
        { name: 'fleet', type: 'Git', write, git },
      ],
    }),
    staticExport('unmirrored', { targets: [inMap] }),
  );

  after(() => Promise.all([registry.close(), server.close()]));

  const groupIn = (text: string | undefined): unknown => parse(text ?? '').staticExport;
  const targetsOf = async (): Promise<readonly { readonly name: string; readonly ref?: string }[]> =>
    (await reader.read('sx', 'docs')).status.targets;

  /** The keys that every target holds, once all of them hold the published reference. */
  async function awaitReference(repository: string) {
    return await eventually(
      `the reference at ${repository} in every target`,
      async () => {
        const { published } = await reader.readOutput('docs');
        const { version, digest, ref } = published;
        assert.ok(ref?.startsWith(`oci://${registry.host}/${repository}@sha256:`), ref);
        const keys = { version, digest, ref };
        const map = (await reader.read('configmap', 'docs-values')).data['values.yaml'];
        assert.deepEqual(groupIn(map), { enabled: true, ...keys });
        const release = await reader.read('helmrelease', 'docs');
        assert.deepEqual(release.spec.values, { server: { replicas: 3 }, staticExport: keys });
        assert.deepEqual(groupIn(await fleet.read('docs.yaml')), keys);
        const written = (await targetsOf()).map((one) => one.ref);
        assert.deepEqual(written, [ref, ref, ref]);
        return keys;
      },
      { timeoutMs: 90_000, everyMs: 500 },
    );
  }

  test('every target gets the reference with its digest, and the chart of the site renders a file of them', async () => {
    const { version, digest, ref } = await awaitReference('docs/site');
    const text = (await fleet.read('docs.yaml')) ?? '';
    assert.match(text, /^# ours\nstaticExport:\n {2}version: ".*" # for now\n/);
    const file = join(world.folder, 'values.yaml');
    await writeFile(file, text);
    const rendered = await world.controlPlane.helm(['template', 'docs', siteChart, '-f', file]);
    assert.equal(rendered.code, 0, rendered.stderr);
    const objects = parseAllDocuments(rendered.stdout).map((one) => one.toJS());
    const { data } = objects.find((one) => one?.kind === 'Secret') ?? assert.fail(rendered.stdout);
    const { bundleUrl, ...keys } = JSON.parse(Buffer.from(data['bundle.json'], 'base64').toString());
    assert.deepEqual([keys.ref, keys.digest, keys.version], [ref, digest, version]);
    assert.equal(bundleUrl, undefined);
  });

  test('a copy that moves to another repository is written, with the same version, and accuses no client', async () => {
    const before = await awaitReference('docs/site');
    await world.api.patch('sx', 'docs', { spec: { mirror: mirrorAt('docs/moved') } }, { namespace });
    const moved = await awaitReference('docs/moved');
    assert.equal(moved.version, before.version);
    assert.equal((await fleet.log()).length, 3, 'one commit for each reference');
  });

  test('a target without any mirror stalls the resource, and the message says what to add', async () => {
    const { message } = await reader.awaitCondition('unmirrored', 'Stalled', 'True', 'InvalidSpec');
    assert.match(message, /ref needs spec\.mirror.*add a mirror, or remove ref from write/);
    assert.equal(vendor.issues('unmirrored.example.com'), 0);
  });

  test('no target holds a link, a key or a password', async () => {
    seeText('a HelmRelease', JSON.stringify(await reader.read('helmrelease', 'docs')));
    seeText('a file in git', (await fleet.read('docs.yaml')) ?? '');
    reader.assertRulesKept();
  });
});
