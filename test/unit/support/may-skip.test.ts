import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { maySkip, skippable } from '../../support/may-skip.ts';

const root = join(import.meta.dirname, '../../..');

test('what is there is never skipped', () => {
  for (const allowed of [undefined, '', 'nodes', 'promtool'])
    assert.equal(maySkip('promtool', false, { TESTS_MAY_SKIP: allowed }), false);
});

for (const [name, allowed, isSkipped] of [
  ['on anybody’s machine what is missing is skipped', undefined, true],
  ['in CI it is a failure', '', false],
  ['in CI it is a failure where something else may be missing', 'nodes chromium', false],
  ['in CI it is skipped where it is named', 'nodes promtool', true],
  ['words may be parted by commas', 'nodes,promtool', true],
] as const) {
  test(name, () => {
    const ask = (): string | false =>
      maySkip('promtool', 'there is no promtool', { TESTS_MAY_SKIP: allowed });
    if (isSkipped) assert.equal(ask(), 'there is no promtool');
    else assert.throws(ask, /there is no promtool\. .*name "promtool" in TESTS_MAY_SKIP/);
  });
}

test('the document of the tests names everything that may be left out, and nothing else', () => {
  const table = readFileSync(join(root, 'test/README.md'), 'utf8').split('| word |')[1]?.split('\n\n')[0];
  const cells = [...(table ?? '').matchAll(/^\| (`.*?) \|/gm)].map(([, cell]) => cell).join();
  assert.deepEqual([...cells.matchAll(/`(\w+)`/g)].map(([, word]) => word).sort(), [...skippable]);
});

test('CI sets it, so that nothing is left out unless somebody said so', () => {
  const run = readFileSync(join(root, '.ci/run'), 'utf8');
  assert.match(run, /^export TESTS_MAY_SKIP="\$\{TESTS_MAY_SKIP-\}"$/m);
});
