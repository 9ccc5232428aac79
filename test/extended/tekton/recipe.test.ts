// The Tekton task of examples/pipelines, judged by Tekton's own validation. Its step runs in
// test/integration/cli/recipes.test.ts.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { runCommand } from '../../support/command.ts';
import { findTektonValidation } from './tekton-task.ts';

const text = readFileSync(join(import.meta.dirname, '../../../examples/pipelines/tekton-task.yaml'), 'utf8');

test('tekton-task.yaml is valid for Tekton itself', async () => {
  const judge = await findTektonValidation();
  const { code, stderr } = await runCommand([judge], { input: text });
  assert.equal(code, 0, stderr);
  const broken = await runCommand([judge], { input: text.replace('$(params.domain)', '$(params.dommain)') });
  assert.match(broken.stderr, /dommain/);
});
