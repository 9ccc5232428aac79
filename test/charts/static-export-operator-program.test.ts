// The operator's chart against the programs it runs: every argument is taken, and every flag stands in their help.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { exportServiceProgram } from '#export-service/program.ts';
import { operatorProgram } from '#operator/flags.ts';
import { readInvocation } from '#platform/runtime/flags/flags.ts';
import { version } from '#platform/runtime/version.ts';
import { runCommand } from '../support/command.ts';
import { fixtureNames, render } from './operator-chart.ts';
import { chartsFolder } from './rendered-chart.ts';

const programs = [
  { name: 'operator', read: (args: readonly string[]) => readInvocation(operatorProgram, version, args, {}) },
  {
    name: 'export-service',
    read: (args: readonly string[]) => readInvocation(exportServiceProgram, version, args, {}),
  },
];

/** Arguments of every container of that program, under every values file. */
async function everyArgs(program: string): Promise<readonly (readonly string[])[]> {
  const objects = (await Promise.all(fixtureNames.map((name) => render(name)))).flat();
  return objects
    .map((object) => object.textsAt('spec.template.spec.containers.0.args'))
    .filter(([first]) => first === program)
    .map(([, ...args]) => args);
}

for (const program of programs) {
  test(`${program.name} accepts every argument of the chart`, async () => {
    const found = await everyArgs(program.name);
    assert.ok(found.length >= 2);
    for (const args of found) {
      const own = args.filter((flag) => !flag.startsWith('--log-level='));
      const invocation = program.read(own);
      assert.equal(invocation.outcome, 'run', invocation.outcome === 'run' ? '' : invocation.text);
    }
  });

  test(`every flag of ${program.name} in use is in its help`, async () => {
    const file = join(chartsFolder, `../src/bin/${program.name}.ts`);
    const { stdout } = await runCommand([process.execPath, file, '--help']);
    const known = new Set([...stdout.matchAll(/^ {2}(--[a-z-]+)/gm)].map(([, flag]) => flag));
    const used = new Set((await everyArgs(program.name)).flat().map((flag) => flag.split('=')[0] ?? ''));
    assert.ok(used.size >= 11, `only ${[...used].join(' ')}`);
    assert.deepEqual(
      [...used].filter((flag) => !known.has(flag)),
      [],
    );
  });
}

test('the values reach the operator', async () => {
  const [args = []] = (await everyArgs('operator')).filter((flags) => flags.includes('--instance=blue'));
  const own = args.filter((flag) => !flag.startsWith('--log-level='));
  const invocation = readInvocation(operatorProgram, version, own, {});
  assert.ok(invocation.outcome === 'run', invocation.outcome === 'run' ? '' : invocation.text);
  const { values } = invocation;
  assert.equal(values.leaseName, 'exporter');
  assert.equal(values.leaseNamespace, 'ops');
  assert.equal(values.leaseDuration, 30_000);
  assert.equal(values.reconcileTimeout, 120_000);
  assert.deepEqual([values.allowedGitHosts, values.allowPrivateGitHosts], [['git.example.com'], true]);
  assert.equal(values.maxBundleSize, 2 * 1024 ** 3);
  assert.equal(values.extraCaFile, '/etc/static-export-ca/bundle.pem');
});
