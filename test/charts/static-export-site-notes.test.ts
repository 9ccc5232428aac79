// What the site's chart says after an installation: where to look, and what its user should know. No link is in it.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { chartsFolder, notesOf } from './rendered-chart.ts';

const chart = join(chartsFolder, 'static-export-site');
const link = { bundleUrl: 'https://storage.example.com/7.tar.gz?X-Amz-Signature=5ec2e7' };
const exported = { create: true, domain: 'd.example', api: { keySecretRef: { name: 'export-api' } } };

const pushed = { image: { repository: 'registry.example.com/static-export-operator' } };

test('after an installation with a plain link, the notes warn that it is never refreshed', async () => {
  const notes = await notesOf(chart, { values: { staticExport: link } });
  assert.match(notes, /plain link that is never refreshed/);
  assert.match(notes, /persistence\.enabled=true/);
  assert.doesNotMatch(notes, /5ec2e7|storage\.example\.com/);
});

test('with the operator, the notes name the StaticExport and warn of nothing', async () => {
  const values = { export: exported, persistence: { enabled: true }, server: pushed };
  const notes = await notesOf(chart, { values });
  assert.match(notes, /get staticexport docs-static-export-site/);
  assert.doesNotMatch(notes, /WARNING|NOTE:/);
});

test('the notes warn of an HTTPRoute whose names agents may not use', async () => {
  const httpRoute = { enabled: true, parentRefs: [{ name: 'gateway' }] };
  const notes = (route: object, hosts: readonly string[]): Promise<string> => {
    const server = { mcp: { enabled: true, hosts } };
    return notesOf(chart, { values: { staticExport: link, httpRoute: route, server } });
  };
  const warning = /servers refuse agents under these names \(403\)[\s\S]*server\.mcp\.hosts/;
  assert.match(await notes(httpRoute, []), warning);
  assert.doesNotMatch(await notes(httpRoute, ['docs.example.com']), warning);
  assert.doesNotMatch(await notes({ ...httpRoute, hostnames: ['docs.example.com'] }, []), warning);
});

test('the notes warn of archives that are published without inspection', async () => {
  const values = { export: { ...exported, promotion: { inspect: 'Never' } } };
  assert.match(await notesOf(chart, { values }), /published without inspection[\s\S]*server\.maxBundleSize/);
});

test('the notes warn of Restart without a version, for every source', async () => {
  for (const source of [
    { staticExport: link },
    { staticExport: { existingSecret: 'docs-bundle' } },
    { export: exported },
  ]) {
    const without = await notesOf(chart, { values: { ...source, rollout: 'Restart' } });
    assert.match(without, /new content never restarts the pods/);
    assert.doesNotMatch(await notesOf(chart, { values: source }), /restarts the pods/);
  }
  const staticExport = { existingSecret: 'docs-bundle', version: 'v1' };
  assert.doesNotMatch(
    await notesOf(chart, { values: { staticExport, rollout: 'Restart' } }),
    /restarts the pods/,
  );
});

test('the notes warn of a mirror whose port no rule of the NetworkPolicy allows', async () => {
  const digest = '0a'.repeat(32);
  const registry = (host: string): object => ({
    staticExport: { ref: `oci://${host}/docs@sha256:${digest}`, digest },
  });
  const bucket = (endpoint: string): object => ({
    staticExport: { ref: `s3://docs-bundles/bundles/${digest}.json`, digest },
    server: { mirror: { endpoint } },
  });
  const mirror = { oci: { repository: 'registry.example.com:5000/docs', secretRef: { name: 'm' } } };
  const egress = (...ports: readonly object[]): object => ({ egress: [{ ports }] });
  for (const [source, policy, port] of [
    [registry('registry.example.com:5000'), {}, 5000],
    [bucket('https://minio.storage:9000'), {}, 9000],
    [{ export: { ...exported, mirror } }, {}, 5000],
    [registry('registry.example.com:5000'), egress({ port: 5000, protocol: 'UDP' }), 5000],
    [registry('registry.example.com'), egress({ port: 5000, endPort: 5010 }), 443],
    [registry('registry.example.com'), {}, undefined],
    [bucket('http://minio.storage'), {}, undefined],
    [registry('registry.example.com:5000'), egress({ port: 4000, endPort: 5000 }), undefined],
    [registry('registry.example.com:5000'), egress({ protocol: 'TCP' }), undefined],
    [registry('registry.example.com:5000'), egress({ port: 'registry' }), undefined],
    [registry('registry.example.com:5000'), { egress: [{ to: [{ podSelector: {} }] }] }, undefined],
    [{ staticExport: { existingSecret: 'docs-bundle' } }, egress({ port: 1 }), undefined],
  ] as const) {
    const values = { ...source, networkPolicy: { enabled: true, ...policy } };
    const [, found] = /no rule for port (\d+) of the mirror/.exec(await notesOf(chart, { values })) ?? [];
    assert.equal(found, port?.toString(), JSON.stringify(values));
    const open = { ...values, networkPolicy: { enabled: false } };
    assert.doesNotMatch(await notesOf(chart, { values: open }), /no rule for port/);
  }
});

test('the notes say where a new pod gets a bundle that a mirror has', async () => {
  const digest = '0a'.repeat(32);
  const staticExport = { ref: `oci://registry.example.com/docs@sha256:${digest}`, digest };
  assert.match(
    await notesOf(chart, { values: { staticExport } }),
    /from another server, or from the mirror\./,
  );
  const alone = { staticExport, peers: { enabled: false } };
  const notes = await notesOf(chart, { values: alone });
  assert.match(notes, /A new pod copies the bundle from the mirror\./);
  assert.doesNotMatch(notes, /the bundle is lost/);
});

test("the notes have a command for a pod's status that works with a NetworkPolicy", async () => {
  const notes = (enabled: boolean): Promise<string> =>
    notesOf(chart, {
      values: { staticExport: { existingSecret: 's' }, networkPolicy: { enabled } },
    });
  assert.match(await notes(false), /--raw \/api\/v1\/namespaces\/docs\/pods\/POD:9090\/proxy\/status/);
  const closed = await notes(true);
  assert.match(closed, /port-forward pod\/POD 9090 {4}# then http:\/\/127\.0\.0\.1:9090\/status/);
  assert.doesNotMatch(closed, /--raw/);
});

test('the notes say where the state of a search and of Markdown is, where the servers make them', async () => {
  for (const feature of ['search', 'markdown']) {
    const says = new RegExp(`\`${feature}\` in /status shows its state`);
    const server = { ...pushed, [feature]: { enabled: true } };
    assert.match(await notesOf(chart, { values: { export: exported, server } }), says);
    assert.doesNotMatch(await notesOf(chart, { values: { export: exported, server: pushed } }), says);
  }
});
