// The site's chart against the program it runs: every argument is taken, and what changes with content is the
// mounted document, never the pod template.

import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { parseServedBundle } from '#bundle/published-bundle.ts';
import { readInvocation } from '#platform/runtime/flags/flags.ts';
import { version } from '#platform/runtime/version.ts';
import { bundleServer } from '#server/server-flags.ts';
import { runCommand } from '../support/command.ts';
import { chartsFolder, RenderedObject, runHelm } from './rendered-chart.ts';
import { chart, fixtureNames, full, one, render, workload } from './site-chart.ts';

for (const name of fixtureNames) {
  test(`the program accepts every argument of ${name}`, async () => {
    const [programName, ...args] = workload(await render(name)).textsAt(
      'spec.template.spec.containers.0.args',
    );
    assert.equal(programName, bundleServer.name);
    const own = args.filter((flag) => !flag.startsWith('--log-level='));
    const invocation = readInvocation(bundleServer, version, own, {});
    assert.equal(invocation.outcome, 'run', invocation.outcome === 'run' ? '' : invocation.text);
  });
}

test('the program accepts every argument of the sidecar example, whose store follows the formula', async () => {
  const example = new RenderedObject(parse(await readFile(join(chart, 'examples/sidecar.yaml'), 'utf8')));
  const [, ...args] = example.textsAt('spec.template.spec.initContainers.0.args');
  const invocation = readInvocation(bundleServer, version, args, {});
  assert.ok(invocation.outcome === 'run', invocation.outcome === 'run' ? '' : invocation.text);
  const { keep, maxBundleSize, maxArchiveSize } = invocation.values;
  const sizeLimit = example.at('spec.template.spec.volumes.1.emptyDir.sizeLimit');
  assert.equal(sizeLimit, `${((keep + 2) * maxBundleSize + maxArchiveSize) / 1024 ** 3}Gi`);
  const defaults = workload(await render('existing-secret')).at('spec.template.spec.containers.0.resources');
  assert.deepEqual(example.at('spec.template.spec.initContainers.0.resources'), defaults);
});

test('headers reach the program as written, dollar signs included', async () => {
  const args = workload(await render('everything')).textsAt('spec.template.spec.containers.0.args');
  // The kubelet turns `$$(` into `$(` where it would put in a variable otherwise.
  const expanded = args.slice(1).map((flag) => flag.replaceAll('$$(', '$('));
  const own = expanded.filter((flag) => !flag.startsWith('--log-level='));
  const invocation = readInvocation(bundleServer, version, own, {});
  assert.ok(invocation.outcome === 'run');
  assert.deepEqual(invocation.values.header, [
    'Strict-Transport-Security',
    'max-age=31536000',
    'X-Odd',
    '$(POD_NAME) "quoted" # 100%',
  ]);
});

test('a search and Markdown are made where the values ask for them, and nowhere else', async () => {
  for (const [fixture, isMade] of [
    ['everything', true],
    ['existing-secret', false],
  ] as const) {
    const args = workload(await render(fixture)).textsAt('spec.template.spec.containers.0.args');
    for (const flag of ['--search', '--markdown']) assert.equal(args.includes(flag), isMade, fixture);
  }
});

test('agents reach the servers by the names of the values, of ingress and HTTPRoute, and of the Service', async () => {
  const object = workload(await render('everything'));
  const [, ...args] = object.textsAt('spec.template.spec.containers.0.args');
  const own = args
    .filter((flag) => !flag.startsWith('--log-level='))
    .map((flag) => flag.replaceAll('$$(', '$('));
  const invocation = readInvocation(bundleServer, version, own, {});
  assert.ok(invocation.outcome === 'run');
  const { mcp, mcpHosts, mcpRate, mcpTokenFile } = invocation.values;
  assert.deepEqual([mcp, mcpRate, mcpTokenFile], [true, 120, '/etc/static-export-mcp/bearer']);
  const names = mcpHosts.map(({ scheme, name }) => `${scheme} ${name}`);
  assert.equal(names[0], 'https agents.example.com');
  assert.ok(names.includes(`http ${object.at('metadata.name')}`), names.join());
  assert.ok(names.some((name) => /^http \S+\.svc\.cluster\.local$/.test(name)));
  const quiet = workload(await render('existing-secret')).textsAt('spec.template.spec.containers.0.args');
  assert.deepEqual(
    quiet.filter((flag) => flag.startsWith('--mcp')),
    [],
  );
});

test("every flag in use is in the program's help", async () => {
  const { stdout } = await runCommand([
    process.execPath,
    join(chartsFolder, '../src/bin/bundle-server.ts'),
    '--help',
  ]);
  const known = new Set([...stdout.matchAll(/^ {2}(--[a-z-]+)/gm)].map(([, flag]) => flag));
  const used = new Set<string>();
  for (const name of fixtureNames) {
    const args = workload(await render(name)).textsAt('spec.template.spec.containers.0.args');
    for (const flag of args.slice(1)) used.add(flag.split('=')[0] ?? '');
  }
  assert.ok(used.size >= 18, `only ${[...used].join(' ')}`);
  assert.deepEqual(
    [...used].filter((flag) => !known.has(flag)),
    [],
  );
});

test('a copy in a mirror is in the same bundle.json, without a link', async () => {
  const objects = await render('mirror');
  const text = Buffer.from(String(one(objects, 'Secret').at('data.bundle~json')), 'base64').toString();
  const served = parseServedBundle(text);
  assert.deepEqual([served.link, served.version], [undefined, '20261121-030000-01234567']);
  assert.match(served.ref ?? '', /^s3:\/\/docs-bundles\/team\/bundles\//);
  const mounts = JSON.stringify(workload(objects).at('spec.template.spec.volumes'));
  assert.match(mounts, /"name":"mirror-credentials"/);
});

test('a plain link is in a Secret of the chart, as a bundle.json that a server accepts', async () => {
  const objects = await render('plain-link');
  const secret = one(objects, 'Secret');
  const served = parseServedBundle(Buffer.from(String(secret.at('data.bundle~json')), 'base64').toString());
  assert.equal(served.version, '20261121');
  assert.match(served.link?.reveal() ?? '', /^https:.*7\.tar\.gz\?X-Amz-Signature=5ec2e7&X-Amz-Expires=900$/);
  const elsewhere = objects.filter((object) => object !== secret).map(({ json }) => JSON.stringify(json));
  assert.doesNotMatch(elsewhere.join(), /storage\.example\.com|5ec2e7/);
});

test('a digest reaches the servers with a plain link only, and restarts no pod', async () => {
  const digest = '0a'.repeat(32);
  const values = { staticExport: { digest } };
  const objects = await render('plain-link', { values });
  const document = String(one(objects, 'Secret').at('data.bundle~json'));
  assert.equal(parseServedBundle(Buffer.from(document, 'base64').toString()).digest, digest);
  assert.deepEqual(
    workload(objects).at('spec.template'),
    workload(await render('plain-link')).at('spec.template'),
  );
  const withOperator = await render('existing-secret', { values });
  assert.doesNotMatch(JSON.stringify(withOperator.map(({ json }) => json)), new RegExp(digest));
});

test('a link read from a file loses only the newline at its end', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'link-'));
  try {
    const file = join(folder, 'link.txt');
    const bundleUrl = 'https://s.example/a?sig=1,2&b={3}';
    await writeFile(file, `${bundleUrl}\r\n`);
    const args = ['template', 'docs', chart, `--set-file=staticExport.bundleUrl=${file}`];
    const { code, stdout, stderr } = await runHelm([...args, '--show-only=templates/link-secret.yaml']);
    assert.equal(code, 0, stderr);
    const document = new RenderedObject(parse(stdout)).at('data.bundle~json');
    assert.deepEqual(JSON.parse(Buffer.from(String(document), 'base64').toString()), { bundleUrl });
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('the Secret is mounted as a folder, may be missing, and is not an environment variable', async () => {
  for (const [name, secretName] of [
    ['plain-link', `${full}-link`],
    ['existing-secret', 'docs-bundle'],
    ['export', 'published'],
  ] as const) {
    const pod = workload(await render(name));
    assert.deepEqual(pod.at('spec.template.spec.volumes.0'), {
      name: 'source',
      secret: { secretName, optional: true },
    });
    assert.deepEqual(pod.at('spec.template.spec.containers.0.volumeMounts.0'), {
      name: 'source',
      mountPath: '/etc/static-export',
      readOnly: true,
    });
    assert.doesNotMatch(JSON.stringify(pod.json), /subPath|secretKeyRef|secretRef|checksum/);
  }
});

const link = (signature: string): object => ({
  staticExport: { bundleUrl: `https://s.example/a?sig=${signature}` },
});
const template = async (values: object): Promise<unknown> =>
  workload(await render('plain-link', { values })).at('spec.template');

test('another link changes the Secret and nothing else, whatever the rollout', async () => {
  for (const rollout of ['Swap', 'Restart']) {
    const before = await render('plain-link', { values: { rollout, ...link('one') } });
    const after = await render('plain-link', { values: { rollout, ...link('two') } });
    const changed = before.filter(
      (object, at) => JSON.stringify(object.json) !== JSON.stringify(after[at]?.json),
    );
    assert.deepEqual(
      changed.map(({ id }) => id),
      [`Secret/${full}-link`],
    );
  }
});

test('another version reaches the pod template under Restart only', async () => {
  const swap = [{ version: 'v1' }, { version: 'v2' }].map((staticExport) => template({ staticExport }));
  assert.deepEqual(await swap[0], await swap[1]);
  const restart = await template({ rollout: 'Restart', staticExport: { version: 'v2' } });
  const withVersion = { annotations: { 'staticexport.dev/version': 'v2' } };
  assert.deepEqual(restart, mergeMetadata(await swap[0], withVersion));
});

function mergeMetadata(pod: unknown, metadata: object): unknown {
  assert.ok(typeof pod === 'object' && pod !== null && 'metadata' in pod);
  return { ...pod, metadata: { ...Object(pod.metadata), ...metadata } };
}

test('a new version of the chart alone restarts no pod', async () => {
  const pod = await template({ server: { image: { tag: 'x' } } });
  assert.doesNotMatch(JSON.stringify(pod), /helm\.sh\/chart|kubernetes\.io\/version/);
});
