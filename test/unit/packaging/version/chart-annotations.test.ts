// What both charts say to Artifact Hub, judged by its documented keys; and what a release and a publisher change.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parse } from 'yaml';
import { z } from 'zod';
import { group, plural } from '#operator/staticexport/names.ts';
import { chartChanges, prepareChart, publishChart } from '../../../../packaging/version/chart-annotations.ts';

const charts = ['static-export-operator', 'static-export-site'] as const;
const textOf = (chart: string): string =>
  readFileSync(new URL(`../../../../charts/${chart}/Chart.yaml`, import.meta.url), 'utf8');
const line = (heading: string, area: string | undefined, text: string) => ({ heading, area, text });

const flag = z.enum(['true', 'false']);
const httpsUrl = z.url({ protocol: /^https$/ });
const yamlOf = <T extends z.ZodType>(schema: T) =>
  z
    .string()
    .transform((text): unknown => parse(text))
    .pipe(schema);
const images = z.strictObject({
  name: z.string(),
  image: z.string().regex(/^[^:]+(?::\d+\/[^:]+)?:\d+\.\d+\.\d+$/),
  whitelisted: z.boolean().optional(),
  platforms: z.array(z.enum(['linux/amd64', 'linux/arm64'])),
});
/** docs/helm_annotations.md of Artifact Hub: its keys, their forms and their lists of values. A key that is not here does nothing. */
const documented = z
  .strictObject({
    alternativeName: z.string(),
    category: z.enum([
      'ai-machine-learning',
      'database',
      'integration-delivery',
      'monitoring-logging',
      'networking',
      'security',
      'storage',
      'streaming-messaging',
      'skip-prediction',
    ]),
    changes: yamlOf(
      z.array(
        z.strictObject({
          kind: z.enum(['added', 'changed', 'deprecated', 'removed', 'fixed', 'security']),
          description: z.string().min(1),
          links: z.array(z.strictObject({ name: z.string(), url: httpsUrl })).optional(),
        }),
      ),
    ),
    containsSecurityUpdates: flag,
    images: yamlOf(z.array(images).min(1)),
    crds: yamlOf(
      z.array(
        z.strictObject({
          kind: z.string(),
          version: z.string(),
          name: z.string(),
          displayName: z.string(),
          description: z.string(),
        }),
      ),
    ),
    crdsExamples: yamlOf(z.array(z.looseObject({ apiVersion: z.string(), kind: z.string() }))),
    license: z.literal('Apache-2.0'),
    links: yamlOf(z.array(z.strictObject({ name: z.string(), url: httpsUrl }))),
    maintainers: yamlOf(z.array(z.strictObject({ name: z.string(), email: z.string() }))),
    operator: flag,
    operatorCapabilities: z
      .string()
      .toLowerCase()
      .pipe(z.enum(['basic install', 'seamless upgrades', 'full lifecycle', 'deep insights', 'auto pilot'])),
    prerelease: flag,
    recommendations: yamlOf(z.array(z.strictObject({ url: httpsUrl }))),
    screenshots: yamlOf(z.array(z.strictObject({ title: z.string(), url: httpsUrl }))),
    signKey: yamlOf(z.strictObject({ fingerprint: z.string(), url: httpsUrl })),
  })
  .partial();
const chartShape = z.looseObject({
  annotations: z
    .record(z.string().startsWith('artifacthub.io/'), z.string())
    .transform((all): unknown =>
      Object.fromEntries(
        Object.entries(all).map(([key, value]) => [key.slice('artifacthub.io/'.length), value]),
      ),
    )
    .pipe(documented),
});
const annotationsOf = (text: string) => chartShape.parse(parse(text)).annotations;

for (const chart of charts) {
  test(`${chart} has only documented keys in their documented forms`, () => {
    const { category, license, images: found, prerelease } = annotationsOf(textOf(chart));
    assert.deepEqual(
      [category, license, found?.length, prerelease],
      ['integration-delivery', 'Apache-2.0', 1, 'true'],
    );
  });

  test(`${chart} names no address that a publisher has not given`, () => {
    const text = textOf(chart);
    assert.doesNotMatch(text, /https?:/);
    const { links, signKey, recommendations } = annotationsOf(text);
    assert.deepEqual([links, signKey, recommendations], [undefined, undefined, undefined]);
    assert.deepEqual([parse(text).home, parse(text).sources], [undefined, undefined]);
    assert.equal(publishChart(text, {}), text);
  });

  test(`${chart}, published, has links, the whole name of its image and its key`, () => {
    const text = publishChart(textOf(chart), {
      imageRepository: 'registry.example.com:5000/docs/static-export-operator',
      sourceUrl: 'https://git.example.com/docs/exports',
      docsUrl: 'https://docs.example.com/exports',
      signKey: {
        fingerprint: 'C874011F0AB405110D02105534365D9472D7468F',
        url: 'https://docs.example.com/key.asc',
      },
    });
    const { links, images: [image] = [], signKey } = annotationsOf(text);
    const { version, home, sources } = parse(text);
    assert.deepEqual(links, [
      { name: 'source', url: 'https://git.example.com/docs/exports' },
      { name: 'docs', url: 'https://docs.example.com/exports' },
    ]);
    assert.equal(image?.image, `registry.example.com:5000/docs/static-export-operator:${version}`);
    assert.deepEqual(image?.platforms, ['linux/amd64', 'linux/arm64']);
    assert.equal(signKey?.fingerprint, 'C874011F0AB405110D02105534365D9472D7468F');
    assert.deepEqual(
      [home, sources],
      ['https://docs.example.com/exports', ['https://git.example.com/docs/exports']],
    );
    assert.equal(
      publishChart(text, { sourceUrl: 'https://git.example.com/docs/exports', docsUrl: home }),
      text,
    );
  });
}

test("the operator's chart has the CRD by its name, and the site's chart has none", () => {
  const { crds, operator } = annotationsOf(textOf('static-export-operator'));
  assert.deepEqual([crds?.map(({ name }) => name), operator], [[`${plural}.${group}`], 'true']);
  const { crds: none, operator: isOperator } = annotationsOf(textOf('static-export-site'));
  assert.deepEqual([none, isOperator], [undefined, undefined]);
});

test('only the address of the sources gives a link of its own', () => {
  const text = publishChart(textOf('static-export-site'), { sourceUrl: 'https://git.example.com/a' });
  assert.deepEqual(annotationsOf(text).links, [{ name: 'source', url: 'https://git.example.com/a' }]);
  assert.equal(parse(text).home, 'https://git.example.com/a');
});

test('an address that is not https, or has a user, is refused and not repeated', () => {
  for (const sourceUrl of [
    'http://git.example.com/a',
    'git.example.com/a',
    'https://me:secret@git.example.com/a',
  ])
    assert.throws(
      () => publishChart(textOf('static-export-site'), { sourceUrl }),
      (error: Error) =>
        /the source URL must be an https address/.test(error.message) && !error.message.includes('secret'),
    );
});

test('changes are those of the chart, one sentence each, with their kind', () => {
  const lines = [
    line('Added', undefined, 'For both: see [the page](docs/a.md). More.'),
    line('Changed', 'Operator', 'Of the operator.'),
    line('Fixed', 'Bundle server', 'Of the server, version 1.2. Then.'),
    line('Removed', 'Command line', 'Of neither.'),
    line('Security', 'Charts and image', 'Of both, e.g. the image'),
    line('Improved', 'A new area', 'Of both.'),
  ];
  assert.deepEqual(chartChanges('static-export-operator', lines), [
    { kind: 'added', description: 'For both: see the page' },
    { kind: 'changed', description: 'Of the operator' },
    { kind: 'security', description: 'Of both, e.g. the image' },
    { kind: 'changed', description: 'Of both' },
  ]);
  assert.deepEqual(
    chartChanges('static-export-site', lines).map(({ kind }) => kind),
    ['added', 'fixed', 'security', 'changed'],
  );
});

test('more changes than a page shows are counted', () => {
  const many = Array.from({ length: 30 }, (_, at) => line('Added', undefined, `Change ${at}.`));
  const changes = chartChanges('static-export-site', many);
  assert.equal(changes.length, 26);
  assert.deepEqual(changes.at(-1), {
    kind: 'added',
    description: '5 more changes: see CHANGELOG.md of the sources',
  });
});

test('a prerelease and version 0 are prereleases, and a security line is a security update', () => {
  const annotations = (version: string, heading: string) =>
    annotationsOf(
      prepareChart(textOf('static-export-site'), {
        version,
        chart: 'static-export-site',
        lines: [line(heading, undefined, 'A.')],
      }),
    );
  const found = [
    annotations('0.9.0', 'Added'),
    annotations('1.0.0', 'Security'),
    annotations('1.0.0-rc.1', 'Fixed'),
  ];
  assert.deepEqual(
    found.map(({ prerelease, containsSecurityUpdates }) => [prerelease, containsSecurityUpdates]),
    [
      ['true', 'false'],
      ['false', 'true'],
      ['true', 'false'],
    ],
  );
});

test('what a release does not own stays as it was written, byte for byte', () => {
  for (const chart of charts) {
    const lines = [line('Added', undefined, 'A.')];
    const once = prepareChart(textOf(chart), { version: '0.1.0', chart, lines });
    const without = (text: string): string =>
      text
        .replace(/^ {2}artifacthub\.io\/changes: \|\n(?: {4}.*\n)*/m, '')
        .replace(/^ {2}artifacthub\.io\/containsSecurityUpdates: .*\n/m, '');
    assert.equal(without(once), without(textOf(chart)));
    assert.equal(prepareChart(once, { version: '0.1.0', chart, lines }), once);
  }
});
