// The groups of extended tests: none is left out, and each is due exactly when something that it depends on has changed.

import assert from 'node:assert/strict';
import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { changedSince, contentsOf, readRecords } from '../../extended/contents.ts';
import { dependenciesOf } from '../../extended/dependencies.ts';
import { type Group, groups } from '../../extended/groups.ts';

const root = join(import.meta.dirname, '../../..');
const all: readonly (readonly [string, Group])[] = Object.entries(groups);

test('every extended test file is in the folder of a group', () => {
  const folders = globSync('test/extended/*/**/*.test.ts', { cwd: root }).map((file) => file.split('/')[2]);
  const known = all.map(([name]) => name);
  assert.deepEqual(
    folders.filter((name = '') => !known.includes(name)),
    [],
  );
});

test('every group has something to run, and what it depends on exists', () => {
  for (const [name, { dependsOn, files = [], commands = [] }] of all) {
    const own = globSync(`test/extended/${name}/**/*.test.ts`, { cwd: root });
    assert.ok(own.length + files.length + commands.length > 0, name);
    const programs = commands.map(([program = '']) => program);
    const missing = [...dependsOn, ...files, ...programs].filter((path) => !existsSync(join(root, path)));
    assert.deepEqual(missing, [], name);
  }
});

test('a group depends on what its tests load, beside what it names', () => {
  const { agreement, campaign } = groups;
  const ofAgreement = dependenciesOf('agreement', agreement);
  for (const path of ['test/extended/agreement', 'src/bundle', 'src/operator/loop', 'test/unit/bundle/cases'])
    assert.ok(ofAgreement.paths.includes(path), path);
  assert.ok(ofAgreement.loadedTests.includes('test/integration/archive-agreement.ts'));
  assert.ok(!ofAgreement.loadedTests.some((path) => path.startsWith('test/support/')));
  const ofCampaign = dependenciesOf('campaign', campaign);
  assert.ok(ofCampaign.paths.includes('src/operator/reconcile'));
  assert.ok(
    !ofCampaign.loadedTests.some((path) => path.startsWith('test/simulation/')),
    'its folder is named',
  );
});

test('a changed, a new and a removed record make a group due', () => {
  const now = contentsOf(['packaging', 'src/platform/wire']);
  assert.deepEqual(changedSince(now, now), []);
  assert.deepEqual(changedSince({ ...now, packaging: 'other' }, now), ['packaging']);
  assert.deepEqual(changedSince(undefined, now), ['packaging', 'src/platform/wire']);
  assert.notEqual(now['packaging'], now['src/platform/wire']);
  assert.throws(() => contentsOf(['no/such/folder']), /no\/such\/folder holds no file/);
});

test('the records are of groups that exist', () => {
  const known = all.map(([name]) => name);
  assert.deepEqual(
    Object.keys(readRecords()).filter((name) => !known.includes(name)),
    [],
  );
});
