// The two charts beside each other, as they come: what one lets through, the other must be able to take.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { operatorProgram } from '#operator/flags.ts';
import { parseSizeBytes } from '#operator/staticexport/size.ts';
import { readInvocation } from '#platform/runtime/flags/flags.ts';
import { version } from '#platform/runtime/version.ts';
import { bundleServer } from '#server/server-flags.ts';
import * as operator from './operator-chart.ts';
import { chartsFolder, renderChart, runHelm } from './rendered-chart.ts';
import { chart, one, render, workload } from './site-chart.ts';

const own = (args: readonly string[]): readonly string[] =>
  args.slice(1).filter((flag) => !flag.startsWith('--log-level='));

test("servers of the site's chart accept every archive that the operator's chart publishes", async () => {
  const promoted = readInvocation(
    operatorProgram,
    version,
    own(operator.argsOf(await operator.render('vendor'), operator.full)),
    {},
  );
  const args = workload(await render('existing-secret')).textsAt('spec.template.spec.containers.0.args');
  const served = readInvocation(bundleServer, version, own(args), {});
  assert.ok(promoted.outcome === 'run' && served.outcome === 'run');
  assert.ok(promoted.values.maxArchiveSize <= served.values.maxArchiveSize);
  assert.ok(promoted.values.maxBundleSize <= served.values.maxBundleSize);
});

test("a StaticExport of the site's chart promotes only what its servers accept, whatever the operator allows", async () => {
  const promotionOf = async (values: object): Promise<unknown> => {
    const base = { create: true, domain: 'd.example', api: { keySecretRef: { name: 'k' } } };
    const all = { ...values, export: { ...base, ...Object(Object(values).export) } };
    return one(await renderChart(chart, { values: all }), 'StaticExport').at('spec.promotion');
  };
  for (const size of ['64Mi', '1Gi', '3Gi']) {
    const server = { maxBundleSize: size };
    const objects = await render('existing-secret', { values: { server } });
    const args = workload(objects).textsAt('spec.template.spec.containers.0.args');
    const served = readInvocation(bundleServer, version, own(args), {});
    assert.ok(served.outcome === 'run');
    assert.deepEqual(await promotionOf({ server }), { maxBundleSize: size });
    const bytes = parseSizeBytes(size);
    assert.deepEqual([served.values.maxBundleSize, served.values.maxArchiveSize], [bytes, bytes]);
  }
  const smaller = { export: { promotion: { maxBundleSize: '512Mi', minPages: 3 } } };
  assert.deepEqual(await promotionOf(smaller), { maxBundleSize: '512Mi', minPages: 3 });
  assert.deepEqual(await promotionOf({ export: { promotion: { inspect: 'Never' } } }), { inspect: 'Never' });
  assert.equal(
    await promotionOf({ staticExport: { enabled: false } }),
    undefined,
    'no servers of this release',
  );
});

test('global.imageRegistry is the registry of a repository that names none', async () => {
  const images = async (repository: string): Promise<readonly unknown[]> => {
    const global = { imageRegistry: 'mirror.example:5000/docs/' };
    const site = await render('existing-secret', { values: { global, server: { image: { repository } } } });
    const ops = await operator.render('vendor', { values: { global, image: { repository } } });
    return [workload(site), operator.pick(ops, `Deployment/${operator.full}`)].map((made) =>
      made.at('spec.template.spec.containers.0.image'),
    );
  };
  for (const [repository, image] of [
    ['static-export-operator', `mirror.example:5000/docs/static-export-operator:${version}`],
    ['team/exports', `mirror.example:5000/docs/team/exports:${version}`],
    ['registry.example.com/exports', `registry.example.com/exports:${version}`],
    ['localhost/exports', `localhost/exports:${version}`],
  ] as const) {
    assert.deepEqual(await images(repository), [image, image]);
  }
});

test("the README's commands install both charts of the clone, with the image that it builds and a schedule", async () => {
  const readme = await readFile(join(chartsFolder, '../README.md'), 'utf8');
  const commands = readme
    .replaceAll(/\\\n\s*/g, '')
    .matchAll(/^helm install (\S+) "\$CHARTS\/(\S+)" (.*)$/gm);
  const rendered = new Map<string, string>();
  for (const [, release = '', name = '', flags = ''] of commands) {
    const filled = flags.replaceAll('$DOMAIN', 'docs.example.com');
    const sets = [...filled.matchAll(/--set ([^\s"=]+)=(?:"([^"]*)"|(\S+))/g)].map(
      ([, path, quoted, plain]) => `--set=${path}=${quoted ?? plain ?? ''}`,
    );
    assert.equal(sets.length, flags.split('--set ').length - 1, flags);
    const { code, stdout, stderr } = await runHelm(['template', release, join(chartsFolder, name), ...sets]);
    assert.equal(code, 0, stderr);
    rendered.set(name, stdout);
  }
  assert.deepEqual([...rendered.keys()], ['static-export-operator', 'static-export-site']);
  const [, image] = /^docker build --tag (\S+) \.$/m.exec(readme) ?? [];
  for (const text of rendered.values()) assert.ok(text.includes(`image: "${image}"`), image);
  assert.match(
    rendered.get('static-export-site') ?? '',
    /domain: docs\.example\.com\n[\s\S]*schedule: 0 3 \* \* \*/,
  );
});
