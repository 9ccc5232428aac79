// Each program that tests build or download is brought before the first test starts.

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import { preparations, preparationsFor } from '../../support/preparations.ts';

const root = join(import.meta.dirname, '../../..');

test('every file that finds a program in the cache has a preparation', () => {
  const finding = globSync('test/{support,extended,integration,charts,gitops,e2e}/**/*.ts', { cwd: root })
    .map((file) => join(root, file))
    .filter((file) => /\b(?:cachedFolder|findGoProgram)\(/.test(readFileSync(file, 'utf8')))
    .map((file) => relative(join(root, 'test'), file))
    .filter((file) => !['support/tool-cache.ts', 'support/go-program.ts'].includes(file));
  assert.deepEqual(finding.sort(), Object.keys(preparations).sort());
});

test('a file needs what the files that it loads find, and nothing for a type', () => {
  const namesFor = (file: string): readonly string[] =>
    preparationsFor([join(root, file)]).map(({ name }) => name);
  assert.deepEqual(namesFor('test/integration/mirror/bucket.test.ts'), ['versitygw']);
  assert.deepEqual(namesFor('test/integration/crd.test.ts'), ['kubectl and helm', 'etcd and kube-apiserver']);
  assert.deepEqual(namesFor('test/unit/platform/wire/link.test.ts'), []);
  assert.deepEqual(namesFor('test/unit/support/preparations.test.ts'), []);
  // It imports a type from the file that starts a control plane.
  assert.deepEqual(namesFor('test/support/gitops/definitions.ts'), ['the definitions of Argo CD and Flux']);
});
