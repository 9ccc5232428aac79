// What BuildKit makes of the Dockerfile, by its own converter: every step runs on the builder's architecture, so that no build
// needs emulation, and nothing is warned of.

import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { before, test } from 'node:test';
import { mustRun } from '../../support/command.ts';
import { findDockerfilePlan } from './dockerfile-plan.ts';

const dockerfile = resolve(import.meta.dirname, '../../../Dockerfile');
const architectures = ['amd64', 'arm64'] as const;
let program = '';

before(async () => {
  program = await findDockerfilePlan();
});

for (const builder of architectures) {
  for (const target of architectures) {
    test(`on ${builder}, each step of a build for ${target} runs on ${builder}`, async () => {
      const plan = await mustRun([program, dockerfile, `linux/${builder}`, `linux/${target}`]);
      const lines = plan.trimEnd().split('\n');
      assert.ok(lines.length >= 14, 'npm, the base, the bundler, and what V8 compiles');
      for (const line of lines) assert.ok(line.startsWith(`run ${builder} `), line);
    });
  }
}
