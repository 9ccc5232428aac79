// The manifest of `run -f`: what a cluster would accept, and nothing more.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readManifest } from '#cli/folder/manifest.ts';

const head =
  'apiVersion: staticexport.dev/v1alpha1\nkind: StaticExport\nmetadata: { name: docs, namespace: team }\n';
const good = `${head}spec:\n  domain: docs.example.com\n  api: { keySecretRef: { name: export-api } }\n`;

test('a StaticExport and the Secrets beside it are read', () => {
  const secret = (name: string, more: string) => `---\nkind: Secret\nmetadata: { name: ${name} }\n${more}\n`;
  const { key, secrets, annotations } = readManifest(
    `${secret('one', 'data: { apiKey: c3ZjX29uZQ== }')}---\n${good}${secret('two', 'stringData: { apiKey: svc_two }')}`,
  );
  assert.deepEqual(key, { namespace: 'team', name: 'docs' });
  assert.deepEqual(annotations, {});
  const texts = [...secrets].map(([name, data]) => [name, Buffer.from(data['apiKey'] ?? []).toString()]);
  assert.deepEqual(texts, [
    ['one', 'svc_one'],
    ['two', 'svc_two'],
  ]);
});

const refusals: readonly (readonly [string, string, RegExp])[] = [
  ['an empty file', '', /is empty|holds 0/],
  ['broken YAML', 'a: [', /is not valid YAML/],
  ['a key that comes twice', `${good}spec: {}\n`, /is not valid YAML/],
  ['no StaticExport', 'kind: ConfigMap\n', /must hold one StaticExport, and holds 0/],
  ['two StaticExports', `${good}---\n${good}`, /holds 2/],
  ['another version', good.replace('v1alpha1', 'v9'), /must have apiVersion staticexport\.dev\/v1alpha1/],
  ['no name', good.replace('name: docs,', ''), /metadata\.name/],
  ['a name that is a path', good.replace('name: docs', 'name: "../x"'), /metadata\.name of lower-case/],
  [
    'a namespace that is not a label, and would share a file with another object',
    good.replace('namespace: team', 'namespace: a.b'),
    /metadata\.namespace of at most 63/,
  ],
  [
    'an unknown field of the metadata',
    good.replace('namespace: team', 'anotations: { a: b }'),
    /: metadata\.anotations \(unknown field; did you mean annotations\?\)$/,
  ],
  [
    'an unknown field',
    `${good}  shedule: "0 3 * * *"\n`,
    /: spec\.shedule \(unknown field; did you mean schedule\?\)$/,
  ],
  ['an unknown field that resembles none', `${good}  colour: red\n`, /: spec\.colour \(unknown field\)$/],
  ['a long unknown field', `${good}  ${'schedule'.repeat(9)}: red\n`, /schedule \(unknown field\)$/],
  [
    'an unknown field in a list',
    `${good}  targets: [{ name: a, type: Git, git: { ulr: "https://a.example", path: a, secretRef: { name: f } } }]\n`,
    /spec\.targets\[0\]\.git\.ulr \(unknown field; did you mean url\?\)/,
  ],
  [
    'an unknown field of a Secret',
    `${good}---\nkind: Secret\nmetadata: { name: k }\nstringdata: { apiKey: x }\n`,
    /has Secret k with stringdata \(unknown field; did you mean stringData\?\)$/,
  ],
  [
    'an unknown field below',
    good.replace('{ name: export-api }', '{ name: x, kye: y }'),
    /spec\.api\.keySecretRef\.kye \(unknown field; did you mean key\?\)/,
  ],
  ['a field of another type', `${good}  historyLimit: many\n`, /spec\.historyLimit \(must be a number\)/],
  ['a number that is too large', `${good}  historyLimit: 999\n`, /spec\.historyLimit \(must be at most 50\)/],
  [
    'a word that is not a choice',
    `${good}  promotion: { mode: Auot }\n`,
    /spec\.promotion\.mode \(must be Auto or Manual\)/,
  ],
  [
    'a required field with a typing error',
    good.replace('domain:', 'domian:'),
    /spec\.domain \(required\), spec\.domian \(unknown field; did you mean domain\?\)/,
  ],
  ['an unknown field beside the spec', `${good}sepc: {}\n`, /: sepc \(unknown field; did you mean spec\?\)/],
  [
    'an annotation that is not text',
    good.replace('namespace: team', 'annotations: { a/b: 5 }'),
    /metadata\.annotations with "a\/b" that is not text; put its value in quotes/,
  ],
  [
    'a label that is not text',
    good.replace('namespace: team', 'labels: { a: true }'),
    /metadata\.labels with "a"/,
  ],
  [
    'a Secret whose value is not base64',
    `${good}---\nkind: Secret\nmetadata: { name: k }\ndata: { apiKey: svc_secret }\n`,
    /data\.apiKey that is not base64; use stringData/,
  ],
  [
    'a Secret whose value is a number',
    `${good}---\nkind: Secret\nmetadata: { name: k }\nstringData: { apiKey: 5 }\n`,
    /stringData of Secret k with "apiKey" that is not text/,
  ],
  ['an alias', `${head}spec: &a\n  domain: docs.example.com\n  api: *a\n`, /a YAML alias in line 6;/],
  ['an alias of nothing', `${head}spec: *nope\n`, /a YAML alias in line 4;/],
  [
    'a number and a text as one key',
    `${good}1: a\n"1": b\n`,
    /is not valid YAML in line 8 \(DUPLICATE_KEY\)/,
  ],
];
for (const [name, text, words] of refusals) {
  test(`${name} is refused`, () => {
    assert.throws(() => readManifest(text), { code: 'ManifestInvalid', message: words, outcome: 'usage' });
  });
}

const gitTarget = (name: string, url: string): string =>
  `    - { name: ${name}, type: Git, git: { url: "${url}", path: a.yaml, secretRef: { name: fleet } } }\n`;

test('git targets work here; a target that needs a cluster is named with its type, and with what to use', () => {
  const fleet = gitTarget('fleet', 'https://git.example.com/a.git');
  assert.deepEqual(readManifest(`${good}  targets:\n${fleet}`).gitTargets, [
    { name: 'fleet', url: 'https://git.example.com/a.git', secretName: 'fleet' },
  ]);
  const argo =
    '    - name: argo\n      type: Values\n      values: { kind: ConfigMap, namespace: a, name: b }\n';
  assert.throws(() => readManifest(`${good}  targets:\n${fleet}${argo}`), {
    code: 'TargetsNeedCluster',
    message:
      'only targets of type Git work without a cluster. Remove target argo (type Values), and use --publish and --values',
  });
});

test('what a Kubernetes API server would refuse of a git target is refused', () => {
  for (const url of ['http://git.example.com/a', 'https://me:pw@git.example.com/a', 'https://a.example/?x=1'])
    assert.throws(() => readManifest(`${good}  targets:\n${gitTarget('fleet', url)}`), {
      code: 'ManifestInvalid',
      message: /target fleet with a git\.url that is not an https:\/\/ URL without user/,
    });
});

test('a git target that writes the reference needs a mirror', () => {
  const fleet = gitTarget('fleet', 'https://git.example.com/a.git').replace('git:', 'write: [ref], git:');
  const mirror =
    '  mirror: { oci: { repository: registry.example.com/docs, secretRef: { name: mirror } } }\n';
  assert.throws(() => readManifest(`${good}  targets:\n${fleet}`), {
    code: 'ManifestInvalid',
    message: /target fleet that writes ref, and no spec\.mirror\. Add a mirror, or remove ref from write$/,
  });
  assert.equal(readManifest(`${good}${mirror}  targets:\n${fleet}`).gitTargets.length, 1);
});

for (const step of ['repair: { rules: [{ name: sitemap }] }', 'search: Enabled']) {
  test(`${step} needs a cluster, and the message names the commands that do it here`, () => {
    assert.throws(() => readManifest(`${good}  transform: { ${step} }\n`), {
      code: 'ManifestInvalid',
      message:
        /spec\.transform, which needs a cluster\. Remove it, and run "static-export bundle repair" or "bundle search"/,
    });
  });
}

test('no message repeats a value of a Secret', () => {
  for (const more of [
    'stringData: { apiKey: svc_secret }',
    'metadata: { name: k }\ndata: { apiKey: svc_secret }',
  ]) {
    assert.throws(
      () => readManifest(`${good}---\nkind: Secret\n${more}\n`),
      (error: Error) => !error.message.includes('svc_secret'),
    );
  }
});

test('a manifest that kubectl printed is accepted', () => {
  const printed = [
    'uid: u, resourceVersion: "1", generation: 2, creationTimestamp: "2026-01-05T12:00:00Z"',
    'ownerReferences: [], finalizers: [], managedFields: [], labels: {}, annotations: {}',
  ].join(', ');
  assert.equal(readManifest(good.replace('namespace: team', printed)).key.name, 'docs');
});
