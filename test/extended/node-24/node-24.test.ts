// The programs, and the unit tests of what depends on Node most, on the oldest line of Node that is allowed. The project
// itself runs on a newer one.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { runCommand } from '../../support/command.ts';
import { programFile } from '../../support/program-file.ts';
import { findNode24, version } from './node-24.ts';

const root = join(import.meta.dirname, '../../..');
let node = '';
before(async () => {
  node = await findNode24();
  assert.equal((await runCommand([node, '--version'])).stdout, `v${version}\n`);
});

const programs = [
  ...['bundle-server', 'export-service', 'operator', 'static-export', 'tap-static-export'],
  'webhook-receiver',
] as const;

for (const program of programs) {
  test(`${program} explains itself on Node 24`, async () => {
    const { code, stdout, stderr } = await runCommand([node, programFile(program), '--help']);
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /--/);
  });
}

test('the whole loop runs on Node 24: export, check, publish, serve, swap', async () => {
  const { code, stdout, stderr } = await runCommand([node, programFile('static-export'), 'demo', '--once']);
  assert.equal(code, 0, `${stdout}\n${stderr}`);
});

test('doctor says that this Node has a reported flaw', async () => {
  const lines = [programFile('static-export'), 'doctor', '--kubeconfig', '/nowhere'];
  const { stdout } = await runCommand([node, ...lines]);
  assert.match(stdout, new RegExp(`warning +NodeVersion: Node ${version} has a reported flaw`));
});

const folders = [
  ...['platform', 'bundle', 'server', 'cli', 'export-service', 'mirror'],
  ...['operator/kube', 'operator/git'],
];
for (const folder of folders) {
  test(`the unit tests of ${folder} pass on Node 24`, async () => {
    const runner = join(root, 'test/support/run-tests.ts');
    // Relative: the runner knows by these names which files share no process.
    const files = `test/unit/${folder}/**/*.test.ts`;
    const { code, stdout } = await runCommand([node, runner, '--share-processes', files]);
    assert.equal(code, 0, stdout.slice(-10_000));
    assert.match(stdout, /^ℹ pass [1-9]/m);
  });
}
