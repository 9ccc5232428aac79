// Mirrors in the site's chart, as its pages show them: the values of docs/air-gap.md and of the READMEs render, and the
// servers accept what comes of them.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { parseServedBundle } from '#bundle/published-bundle.ts';
import { readInvocation } from '#platform/runtime/flags/flags.ts';
import { version } from '#platform/runtime/version.ts';
import { bundleServer } from '#server/server-flags.ts';
import { type RenderedObject, renderChart } from './rendered-chart.ts';
import { chart, one, workload } from './site-chart.ts';

const digest = '0a'.repeat(32);
/** Blocks of YAML that mention the word, with digests in place of what the reader fills in. */
async function blocksWith(page: string, word: string): Promise<readonly object[]> {
  const text = await readFile(join(chart, page), 'utf8');
  const filled = text.replaceAll(/(?:REF|DIGEST)_OF_BUNDLE_\d/g, digest);
  const blocks = [...filled.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, block = '']) => block);
  return blocks.filter((block) => block.includes(word)).map((block) => parse(block));
}

const flagsOf = (objects: readonly RenderedObject[]) => {
  const [, ...args] = workload(objects).textsAt('spec.template.spec.containers.0.args');
  const own = args.filter((flag) => !flag.startsWith('--log-level='));
  const invocation = readInvocation(bundleServer, version, own, {});
  assert.ok(invocation.outcome === 'run', invocation.outcome === 'run' ? '' : invocation.text);
  return invocation.values;
};

test('the values of docs/air-gap.md serve a copy in a registry, or in a bucket', async () => {
  const [shared = {}, bucket = {}] = await blocksWith('docs/air-gap.md', 'mirror:');
  const bundles = await blocksWith('docs/air-gap.md', 'ref:');
  assert.equal(bundles.length, 2);
  for (const [at, bundle] of bundles.entries()) {
    const objects = await renderChart(chart, { values: { ...shared, ...bundle } });
    const document = Buffer.from(String(one(objects, 'Secret').at('data.bundle~json')), 'base64').toString();
    const served = parseServedBundle(document);
    assert.deepEqual([served.digest, served.version, served.link], [digest, `v${at + 1}`, undefined]);
    assert.equal(served.ref, `oci://registry.example.com/docs@sha256:${digest}`);
    const { mirrorCredentials, allowPrivateMirror, extraCaFile } = flagsOf(objects);
    assert.deepEqual([mirrorCredentials, allowPrivateMirror], ['/etc/static-export-mirror', true]);
    assert.equal(extraCaFile, '/etc/static-export-ca/ca.crt');
    const pod = workload(objects);
    assert.deepEqual(pod.at('spec.template.spec.imagePullSecrets'), [{ name: 'docs-mirror' }]);
  }
  const staticExport = { ref: `s3://docs-bundles/docs/bundles/${digest}.json`, digest };
  const flags = flagsOf(await renderChart(chart, { values: { ...bucket, staticExport } }));
  assert.equal(flags.mirrorEndpoint, 'https://s3.example.com');
});

test('the identity of the README is on the service account, and no token of the cluster is mounted', async () => {
  const [identity = {}] = await blocksWith('README.md', 'role-arn');
  const staticExport = { ref: `s3://docs-bundles/bundles/${digest}.json`, digest };
  const objects = await renderChart(chart, { values: { ...identity, staticExport } });
  const annotations = Object(one(objects, 'ServiceAccount').at('metadata.annotations'));
  assert.match(annotations['eks.amazonaws.com/role-arn'], /^arn:aws:iam::/);
  assert.equal(flagsOf(objects).mirrorRegion, 'eu-west-1');
  assert.equal(workload(objects).at('spec.template.spec.automountServiceAccountToken'), false);
});

test('server.mirror sets every flag of a mirror', async () => {
  const mirror = {
    ...{ credentialsSecret: 'docs-mirror', endpoint: 'http://s3.storage:9000', region: 'local' },
    ...{ pathStyle: true, allowPrivate: true, allowHttp: true },
  };
  const staticExport = { ref: `s3://docs-bundles/bundles/${digest}.json`, digest };
  const objects = await renderChart(chart, { values: { server: { mirror }, staticExport } });
  const flags = Object.entries(flagsOf(objects)).filter(([name]) => /mirror/i.test(name));
  assert.deepEqual(Object.fromEntries(flags), {
    mirrorCredentials: '/etc/static-export-mirror',
    mirrorEndpoint: 'http://s3.storage:9000',
    mirrorRegion: 'local',
    mirrorPathStyle: true,
    allowPrivateMirror: true,
    allowHttpMirror: true,
  });
});
