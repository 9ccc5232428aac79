// Paths, names and branches of an edit: what leads out of the repository is refused, and ordinary ones are accepted.

import assert from 'node:assert/strict';
import { posix } from 'node:path';
import { test } from 'node:test';
import { isBranchName, refuseEdit } from '#operator/git/edit-path.ts';
import type { GitEdit } from '#operator/git/push-task.ts';
import * as fc from '../../../support/properties.ts';

const edit = (overrides: Partial<GitEdit>): GitEdit => ({
  id: 'a',
  path: 'a.yaml',
  keyPath: ['staticExport'],
  wanted: { version: '1' },
  subject: '',
  body: '',
  ...overrides,
});

test('paths that no checkout would keep inside are refused', () => {
  const outside = [
    '',
    '/a',
    '../a',
    'a/../b',
    './a',
    'a//b',
    'a/',
    '.git/config',
    'a/.GIT/b',
    'git~1/a',
    '..',
  ];
  for (const path of outside) assert.equal(refuseEdit(edit({ path }))?.code, 'PathOutsideRepository', path);
  for (const path of ['a\\b', 'a\u0000', 'a\u202eb', `${'a/'.repeat(600)}b`]) {
    assert.equal(refuseEdit(edit({ path }))?.code, 'InvalidEdit', path);
  }
  for (const path of ['a.yaml', 'clusters/prod/docs site.yaml', '.github/a.yaml', '..a/b', 'é.yaml']) {
    assert.equal(refuseEdit(edit({ path })), undefined, path);
  }
});

test('whatever path is accepted, its resolution stays below the root', () => {
  const segment = fc.oneof(
    fc.constantFrom('..', '.', '', '.git', 'a', 'b.yaml'),
    fc.string({ maxLength: 5 }),
  );
  fc.assert(
    fc.property(fc.array(segment, { minLength: 1, maxLength: 6 }), (segments) => {
      const path = segments.join('/');
      if (refuseEdit(edit({ path })) !== undefined) return;
      const resolved = posix.resolve('/root', path);
      assert.equal(resolved, `/root/${path}`);
    }),
  );
});

test('key paths have 1 to 8 visible names, and an edit writes at least one key', () => {
  const names = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `n${at}`);
  for (const keyPath of [[], names(9), [''], ['<<'], ['a\n']]) {
    assert.equal(refuseEdit(edit({ keyPath }))?.code, 'InvalidEdit', keyPath.join());
  }
  assert.equal(refuseEdit(edit({ keyPath: names(8) })), undefined);
  assert.equal(refuseEdit(edit({ wanted: {} }))?.code, 'InvalidEdit');
});

test('names of branches follow git', () => {
  for (const name of ['main', 'docs/next', 'release-1.2', 'é', 'a@b']) assert.ok(isBranchName(name), name);
  const odd = [
    '',
    '-a',
    'a..b',
    'a b',
    'a~1',
    'a^',
    'a:b',
    'a?',
    'a*',
    'a[',
    'a\\b',
    'a/',
    '/a',
    'a//b',
    '.a',
    'a/.b',
  ];
  for (const name of [...odd, 'a.lock', 'a.', '@', 'HEAD', 'a@{1}', 'a\u0007', 'a'.repeat(300)]) {
    assert.ok(!isBranchName(name), name);
  }
});
