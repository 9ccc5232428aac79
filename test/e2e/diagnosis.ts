// What the command line says of real pods: the kubelet's pods, asked through the API server, are in step; doctor finds
// nothing wrong; a report has the operators' logs, and neither a key nor a link.

import assert from 'node:assert/strict';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { patiently } from '../support/eventually.ts';
import type { TestNodes } from '../support/node/node.ts';
import { listPods } from '../support/node/pods.ts';
import { programFile } from '../support/program-file.ts';
import { readBytes } from '../support/read-archive.ts';
import { full, operatorSpace, operators, servers, siteSpace, type TwoCharts } from './two-charts.ts';

interface Found {
  readonly state: string;
  readonly name: string;
}

/** @param key in use. @throws when a claim does not hold */
export async function diagnose(nodes: TestNodes, world: TwoCharts, key: string): Promise<void> {
  const run = async (...args: readonly string[]) => {
    const command = [process.execPath, programFile('static-export'), ...args];
    const options = { env: { KUBECONFIG: nodes.kubeconfig } };
    const { code, stdout, stderr } = await nodes.run([...command, `-n=${siteSpace}`, '-o=json'], options);
    assert.equal(code, 0, stdout + stderr);
    return JSON.parse(stdout);
  };
  // A pod that does not answer within five seconds is asked again.
  await patiently('every pod in step', async () => {
    const { objects } = await run('tree', full);
    const pods: readonly Found[] = objects.flatMap((one: { pods: readonly Found[] }) => one.pods);
    assert.deepEqual(
      pods.map(({ name }) => name).toSorted(),
      [...(await listPods(nodes, siteSpace, servers))].sort(),
    );
    assert.deepEqual([...new Set(pods.map(({ state }) => state))], ['InStep'], JSON.stringify(pods));
    return true;
  });

  const file = join(nodes.folder, 'report.zip');
  await patiently('no check skipped', async () => {
    await rm(file, { force: true });
    const { checks } = await run('doctor', full, `--report=${file}`);
    assert.deepEqual(
      checks.filter(({ state }: Found) => state === 'skipped'),
      [],
    );
    return true;
  });
  const { contents } = await readBytes(await readFile(file));
  for (const pod of await listPods(nodes, operatorSpace, operators)) {
    assert.match(contents[`logs/${operatorSpace}.${pod}.log`] ?? '', /"level":"info"/);
  }
  const output = ['get', 'secret', `${full}-bundle`, '-n', siteSpace, '--output=jsonpath={.data.bundleUrl}'];
  const link = new URL(Buffer.from(await world.kubectl(output), 'base64').toString('utf8'));
  assert.ok(link.search.length > 1);
  for (const [name, text] of Object.entries(contents)) {
    for (const secret of [key, link.href, link.search]) assert.equal(text.includes(secret), false, name);
  }
}
