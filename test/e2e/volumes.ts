// Volumes for a running site: the recipe of the chart's docs/sizing.md, line by line, on real pods. In place of a
// storage class, each server gets a folder of the machine.

import assert from 'node:assert/strict';
import { chmod, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventuallyInCluster } from '../support/eventually.ts';
import type { TestNodes } from '../support/node/node.ts';
import { applyObjects, kubectl } from '../support/node/pods.ts';
import { servers, siteSpace, storageClassName, type TwoCharts, volume } from './two-charts.ts';

const charts = new URL('../../charts/', import.meta.url).pathname;
const inSite = `--namespace=${siteSpace}`;

/** The commands under a heading in bold of the site chart's docs/sizing.md. */
async function readRecipe(heading: string): Promise<readonly (readonly string[])[]> {
  const text = await readFile(`${charts}static-export-site/docs/sizing.md`, 'utf8');
  const block = new RegExp(`\\*\\*${heading}\\.\\*\\*[^\`]*[\\s\\S]*?\`\`\`sh\\n([\\s\\S]*?)\`\`\``).exec(
    text,
  )?.[1];
  assert.ok(block !== undefined, `docs/sizing.md has no recipe "${heading}"`);
  const lines = block.replaceAll('\\\n', ' ').split('\n');
  return lines.filter((line) => line !== '').map((line) => line.split(/\s+/));
}

/** Follows the recipe. @returns the commands */
export async function giveVolumes(nodes: TestNodes, world: TwoCharts): Promise<string> {
  for (const at of [0, 1]) {
    const folder = join(nodes.folder, `server-${at}`);
    await mkdir(folder);
    await chmod(folder, 0o777);
    await applyObjects(nodes, [volume(`server-${at}`, folder)]);
  }
  const recipe = await readRecipe('Volumes for a site that is live');
  for (const [tool, ...words] of recipe) {
    const args = words.map((word) => (word.startsWith('charts/') ? `${charts}../${word}` : word));
    if (tool === 'helm') {
      await world.helm([...args, inSite, `--set=persistence.storageClass=${storageClassName}`]);
    } else {
      assert.equal(tool, 'kubectl');
      await world.kubectl([...args, inSite]);
    }
  }
  return recipe.map((words) => words.join(' ')).join('\n');
}

/**
 * Ends every server at the same time, as when a cluster is switched off. Their uids show the end: kubectl waits for
 * names, and the pods of a StatefulSet have the same names again before it reads them.
 */
export async function switchOff(nodes: TestNodes): Promise<void> {
  const former = await listUids(nodes);
  assert.ok(former.length > 0);
  await kubectl(nodes, ['delete', 'pods', inSite, `--selector=${servers}`, '--wait=false']);
  try {
    await eventuallyInCluster(
      'the end of every server',
      async () => {
        const present = await listUids(nodes);
        return former.every((uid) => !present.includes(uid)) || undefined;
      },
      // Many times a pod's grace period.
      { timeoutMs: 120_000 },
    );
  } catch (cause) {
    const found = await kubectl(nodes, ['describe', 'pods', inSite, `--selector=${servers}`]);
    throw new Error(`servers that do not end:\n${found}`, { cause });
  }
}

async function listUids(nodes: TestNodes): Promise<readonly string[]> {
  const path = '--output=jsonpath={.items[*].metadata.uid}';
  const text = await kubectl(nodes, ['get', 'pods', inSite, `--selector=${servers}`, path]);
  return text.split(' ').filter((uid) => uid !== '');
}
