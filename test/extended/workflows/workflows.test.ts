// The workflows of GitHub Actions, judged by actionlint: it knows contexts, needs and outputs, which the schema does not. Their
// steps run in test/integration/packaging/workflows.test.ts.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { runCommand } from '../../support/command.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { findActionlint } from './actionlint.ts';

const folder = resolve(import.meta.dirname, '../../../.github/workflows');

for (const name of ['ci.yaml', 'release.yaml']) {
  test(`${name} is right for actionlint`, async (t) => {
    const file = join(folder, name);
    const judge = [await findActionlint(), '-no-color', '-shellcheck=', '-pyflakes='];
    const { code, stdout } = await runCommand([...judge, file]);
    assert.equal(code, 0, stdout);
    const broken = join(temporaryFolder(t), name);
    writeFileSync(broken, readFileSync(file, 'utf8').replace('vars.TESTS_MAY_SKIP', 'steps.none.outputs.x'));
    const refused = await runCommand([...judge, broken]);
    assert.equal(refused.code, 1);
    assert.match(refused.stdout, /property "none" is not defined/);
  });
}
