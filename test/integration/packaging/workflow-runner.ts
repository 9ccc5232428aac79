// Runs the jobs of a workflow of GitHub Actions as the platform does: in the order of their needs, each step in its shell,
// with the documented variables and evaluated expressions. Actions are played: a checkout does nothing here, an upload keeps
// files, and an attestation is recorded. Refuses an expression that the test has not given a value.

import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { runCommand } from '../../support/command.ts';
import type { StubPrograms } from './stub-programs.ts';

const texts = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]).transform(String));
const step = z.strictObject({
  name: z.string().optional(),
  id: z.string().optional(),
  uses: z.string().optional(),
  with: texts.default({}),
  env: texts.default({}),
  run: z.string().optional(),
});
const job = z.strictObject({
  needs: z.string().optional(),
  'runs-on': z.string(),
  'timeout-minutes': z.number(),
  permissions: z.record(z.string(), z.enum(['read', 'write'])),
  strategy: z.strictObject({ matrix: z.record(z.string(), z.array(z.string())) }).optional(),
  outputs: texts.optional(),
  steps: z.array(step).min(1),
});
export const workflowShape = z.looseObject({
  on: z.record(z.string(), z.unknown()),
  permissions: z.strictObject({}),
  concurrency: z.strictObject({
    group: z.string(),
    'cancel-in-progress': z.union([z.boolean(), z.string()]),
  }),
  jobs: z.record(z.string(), job),
});
export type Workflow = z.infer<typeof workflowShape>;

/** Without the file that bash reads where its input is a socket, as in a remote login. */
export const strictShell: readonly string[] = ['bash', '--norc', '-eu', '-o', 'pipefail', '-c'];

export interface WorkflowRun {
  /** `undefined`: every step ended with 0. */
  readonly failed: { readonly job: string; readonly step: string; readonly stderr: string } | undefined;
  /** What each attestation is of. */
  readonly attested: readonly Readonly<Record<string, string>>[];
}

/**
 * @param folder of the test
 * @param expressions the values of `vars`, `secrets` and `github`
 * @param env the documented variables of a run
 */
export async function runWorkflow(
  workflow: Workflow,
  folder: string,
  stubs: StubPrograms,
  expressions: ReadonlyMap<string, string>,
  env: Readonly<Record<string, string>>,
): Promise<WorkflowRun> {
  const known = new Map(expressions);
  const attested: Record<string, string>[] = [];
  const evaluate = (text: string): string =>
    text.replace(
      /\$\{\{ ([^}]+) \}\}/g,
      (_all, name: string) => known.get(name) ?? assert.fail(`no ${name}`),
    );
  const evaluated = (all: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(all).map(([name, text]) => [name, evaluate(text)]));
  for (const [name, { steps, outputs = {} }] of Object.entries(workflow.jobs)) {
    // Another machine for each job: nothing is left of the last one.
    const [workspace, temp] = ['workspace', 'temp'].map((one) => join(folder, name, one));
    assert.ok(workspace !== undefined && temp !== undefined);
    for (const made of [workspace, temp]) mkdirSync(made, { recursive: true });
    known.set('runner.temp', temp);
    for (const { uses = '', id, run, ...rest } of steps) {
      const given = evaluated(rest.with);
      if (uses.startsWith('actions/upload-artifact@'))
        cpSync(given['path'] ?? '', join(folder, 'artifacts', given['name'] ?? ''), { recursive: true });
      if (uses.startsWith('actions/attest@')) attested.push(given);
      if (run === undefined) continue;
      const output = join(temp, 'output');
      writeFileSync(output, '');
      // What `shell` is by default on Linux; GitHub leaves out -u and pipefail, which must not fail either.
      const shell = [...strictShell, `cd "$GITHUB_WORKSPACE"\n${run}`];
      const { code, stderr } = await runCommand(shell, {
        env: {
          ...{ CI: 'true', GITHUB_ACTIONS: 'true', GITHUB_WORKSPACE: workspace, GITHUB_OUTPUT: output },
          ...{ RUNNER_TEMP: temp, ...env, ...stubs.env, ...evaluated(rest.env) },
        },
      });
      if (code !== 0) return { failed: { job: name, step: rest.name ?? run, stderr }, attested };
      for (const [, key, value = ''] of readFileSync(output, 'utf8').matchAll(/^(\w+)=(.*)$/gm))
        known.set(`steps.${id}.outputs.${key}`, value);
    }
    for (const [key, text] of Object.entries(outputs))
      known.set(`needs.${name}.outputs.${key}`, evaluate(text));
  }
  return { failed: undefined, attested };
}
