// What the command line says of real pods: the kubelet's pods, asked through the API server, are in step; doctor finds
// nothing wrong; a report has the operators' logs, and neither a key nor a link.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventuallyInCluster } from '../support/eventually.ts';
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
  /** A pod that does not answer within five seconds is asked again. @throws when the command fails */
  const run = async (doesNotAnswer: RegExp, ...args: readonly string[]) => {
    const command = [process.execPath, programFile('static-export'), ...args, `-n=${siteSpace}`, '-o=json'];
    const options = { env: { KUBECONFIG: nodes.kubeconfig } };
    const { code, stdout, stderr } = await eventuallyInCluster(`${args[0]} has every answer`, async () => {
      const result = await nodes.run(command, options);
      return result.code === 0 && doesNotAnswer.test(result.stdout) ? undefined : result;
    });
    assert.equal(code, 0, stdout + stderr);
    return JSON.parse(stdout);
  };
  const { objects } = await run(/"state": ?"Unknown"/, 'tree', full);
  const pods: readonly Found[] = objects.flatMap((one: { pods: readonly Found[] }) => one.pods);
  assert.deepEqual(
    pods.map(({ name }) => name).toSorted(),
    [...(await listPods(nodes, siteSpace, servers))].sort(),
  );
  assert.deepEqual([...new Set(pods.map(({ state }) => state))], ['InStep'], JSON.stringify(pods));

  const file = join(nodes.folder, 'report.zip');
  const { checks } = await run(/"state": ?"skipped"/, 'doctor', full, `--report=${file}`);
  assert.deepEqual(
    checks.filter(({ state }: Found) => state === 'skipped'),
    [],
  );
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
