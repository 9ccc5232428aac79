// Where the version stands: every form is found and changed, and history is not.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { namedVersions, otherMentions, withVersion } from '../../../../packaging/version/version-places.ts';

const rows: readonly (readonly [file: string, before: string, after: string])[] = [
  [
    'package.json',
    '{\n  "version": "0.1.0",\n  "x": "0.1.0"\n}',
    '{\n  "version": "1.2.3",\n  "x": "0.1.0"\n}',
  ],
  [
    'package-lock.json',
    '{\n  "name": "static-export-operator",\n  "version": "0.1.0",\n  "packages": {\n    "": {\n      "name": "static-export-operator",\n      "version": "0.1.0",\n    },\n    "node_modules/a": {\n      "version": "0.1.0",',
    '{\n  "name": "static-export-operator",\n  "version": "1.2.3",\n  "packages": {\n    "": {\n      "name": "static-export-operator",\n      "version": "1.2.3",\n    },\n    "node_modules/a": {\n      "version": "0.1.0",',
  ],
  [
    'charts/a/Chart.yaml',
    'version: 0.1.0\nappVersion: "0.1.0"\n      image: static-export-operator:0.1.0\n',
    'version: 1.2.3\nappVersion: "1.2.3"\n      image: static-export-operator:1.2.3\n',
  ],
  [
    'Dockerfile',
    '# --tag static-export-operator:0.1.0 .\nARG VERSION=0.1.0\n',
    '# --tag static-export-operator:1.2.3 .\nARG VERSION=1.2.3\n',
  ],
  ['README.md', '| State | 0.1.0, not released yet. The API |', '| State | 1.2.3. The API |'],
  ['README.md', '| State | 0.1.0. The API |', '| State | 1.2.3. The API |'],
  ['README.md', 'docker push "$IMAGE:0.1.0"', 'docker push "$IMAGE:1.2.3"'],
  [
    'README.md',
    'chart r.example.com/charts/static-export-site:0.1.0',
    'chart r.example.com/charts/static-export-site:1.2.3',
  ],
  [
    'README.md',
    'helm install docs oci://r/c --version 0.1.0-rc.1 --wait',
    'helm install docs oci://r/c --version 1.2.3 --wait',
  ],
  [
    'README.md',
    'pushed, 6 blobs of 115.1 MiB sent; 0.1 names it now\n',
    'pushed, 6 blobs of 115.1 MiB sent; 1.2 names it now\n',
  ],
  ['packaging/README.md', 'npm i static-export-cli-0.1.0-rc.1.tgz', 'npm i static-export-cli-1.2.3.tgz'],
  ['charts/a/docs/flux.md', 'ref: { tag: v0.1.0 }', 'ref: { tag: v1.2.3 }'],
  ['charts/a/docs/argo-cd.md', 'targetRevision: v0.1.0', 'targetRevision: v1.2.3'],
  [
    'examples/a.yaml',
    'default: r.example.com/static-export-operator:0.1.0',
    'default: r.example.com/static-export-operator:1.2.3',
  ],
  [
    'CHANGELOG.md',
    '## Unreleased: 0.1.0\n\n- `static-export-operator:0.1.0`',
    '## Unreleased: 1.2.3\n\n- `static-export-operator:0.1.0`',
  ],
  // Not a version of the project.
  [
    'README.md',
    'docs-0.1.0, "x:0.1.0", helm 3.14.0, tag: 0.1.0',
    'docs-0.1.0, "x:0.1.0", helm 3.14.0, tag: 0.1.0',
  ],
  ['charts/a/docs/upgrade.md', 'static-export-operator:0.1.0', 'static-export-operator:0.1.0'],
  ['src/a.ts', 'static-export-operator:0.1.0', 'static-export-operator:0.1.0'],
];

for (const [file, before, after] of rows) {
  test(`of ${file}, "${before.split('\n')[0]}" gets the version ${before === after ? 'nowhere' : 'in its places'}`, () => {
    assert.equal(withVersion(file, before, '1.2.3'), after);
    const named = namedVersions(file, after);
    assert.ok(
      named.every(({ version, isMinor }) => version === (isMinor ? '1.2' : '1.2.3')),
      JSON.stringify(named),
    );
    assert.equal(named.length > 0, before !== after);
    assert.equal(withVersion(file, after, '1.2.3'), after, 'a second time');
  });
}

test('a place has its line', () => {
  assert.deepEqual(namedVersions('Dockerfile', 'FROM a\nARG VERSION=0.1.0\n'), [
    { file: 'Dockerfile', line: 2, version: '0.1.0', isMinor: false },
  ]);
});

test('a version in another form is reported with its line, and never inside another version', () => {
  const text = 'since 0.1.0,\n"$IMAGE:0.1.0"\n10.1.0 and 0.1.0.5 and 0.1.0-rc.1\nv0.1.0.';
  assert.deepEqual(
    otherMentions('README.md', text, '0.1.0').map(({ line }) => line),
    [1, 4],
  );
});
