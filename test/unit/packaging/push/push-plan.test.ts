// What a push writes, skips and refuses, by what the registry has.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  conflictText,
  minorTagOf,
  planTags,
  type RepositoryTags,
  versionTagOf,
} from '../../../../packaging/push/push-plan.ts';

const [own, other] = [`sha256:${'a'.repeat(64)}`, `sha256:${'b'.repeat(64)}`];
const root = { mediaType: 'application/vnd.oci.image.index.v1+json', digest: own, bytes: Buffer.from('{}') };
const plan = (version: string, present: Partial<RepositoryTags> = {}) =>
  planTags(
    { name: 'charts/a', version, root },
    { version: undefined, minor: undefined, all: [], ...present },
  );

const rows: readonly (readonly [
  what: string,
  version: string,
  present: Partial<RepositoryTags>,
  isWritten: boolean,
  minor: unknown,
])[] = [
  ['an empty repository', '0.2.0', {}, true, { tag: '0.2', step: 'write' }],
  [
    'the same release',
    '0.2.0',
    { version: own, minor: own, all: ['0.2.0', '0.2'] },
    false,
    { tag: '0.2', step: 'keep' },
  ],
  ['the version without its minor version', '0.2.0', { version: own }, false, { tag: '0.2', step: 'write' }],
  [
    'an older release',
    '0.2.10',
    { minor: other, all: ['0.2', '0.2.9', '0.3.0'] },
    true,
    { tag: '0.2', step: 'write' },
  ],
  [
    'a newer release',
    '0.2.9',
    { minor: other, all: ['0.2', '0.2.11', '0.2.10', '0.2.8'] },
    true,
    { tag: '0.2', step: 'leave', newer: '0.2.11' },
  ],
  [
    'a newer prerelease',
    '0.2.0',
    { minor: other, all: ['0.2', '0.2.1-rc.1'] },
    true,
    { tag: '0.2', step: 'write' },
  ],
  [
    'tags of other tools',
    '0.2.0',
    { minor: other, all: ['0.2', 'latest', 'sha256-aa.sig', '0.2.x', '00.2.1'] },
    true,
    { tag: '0.2', step: 'write' },
  ],
  ['an older version', '0.2.0-rc.1', { all: ['0.1.0'] }, true, undefined],
];

for (const [what, version, present, isWritten, minor] of rows) {
  test(`with ${what} in the registry, ${version} is ${isWritten ? 'written' : 'left'}`, () => {
    assert.deepEqual(plan(version, present), { version: { tag: version, isWritten }, minor });
  });
}

test('a version with other bytes is a conflict, also where its minor version would move', () => {
  const conflict = { name: 'charts/a', tag: '0.2.0', present: other, own };
  assert.deepEqual(plan('0.2.0', { version: other, minor: other, all: ['0.2', '0.2.0'] }), conflict);
  assert.equal(
    conflictText('r.example.com/a', [conflict, { ...conflict, name: 'b' }]),
    `Nothing was pushed, because a version never gets other bytes:
  r.example.com/a/charts/a:0.2.0
    in the registry  ${other}
    in this release  ${own}
  r.example.com/a/b:0.2.0
    in the registry  ${other}
    in this release  ${own}
Raise the version with \`npm run release:prepare\`.`,
  );
});

test('a tag has no plus sign, and a prerelease no minor version', () => {
  assert.equal(versionTagOf('1.2.3+build.4'), '1.2.3_build.4');
  assert.equal(minorTagOf('1.22.3'), '1.22');
  assert.equal(minorTagOf('1.2.3-rc.1'), undefined);
});
