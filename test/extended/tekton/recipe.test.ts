// The Tekton task of examples/pipelines, judged by Tekton's own validation. Its step runs in
// test/integration/cli/recipes.test.ts.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { runCommand } from '../../support/command.ts';
import { findGoProgram } from '../../support/go-program.ts';
import { maySkip } from '../../support/may-skip.ts';

const text = readFileSync(join(import.meta.dirname, '../../../examples/pipelines/tekton-task.yaml'), 'utf8');

// The first run builds it: a minute of CPU time.
test('tekton-task.yaml is valid for Tekton itself', { timeout: 1_200_000 }, async (t) => {
  const folder = join(import.meta.dirname, 'tekton-task');
  const judge = await findGoProgram({ folder, standardPackages: 180 }, () => {}).catch((error: Error) => {
    t.skip(maySkip('tekton', `Tekton's validation cannot be built: ${error.message.split('\n')[0]}`) || '');
    return undefined;
  });
  if (judge === undefined) return;
  const { code, stderr } = await runCommand([judge], { input: text });
  assert.equal(code, 0, stderr);
  const broken = await runCommand([judge], { input: text.replace('$(params.domain)', '$(params.dommain)') });
  assert.match(broken.stderr, /dommain/);
});
