// A part of `npm run check`: versions, changelog and removed names. With `--tag`, also whether the tag names what was
// prepared. Writes nothing.
//
//   npm run check:version [-- --tag vX.Y.Z]

import { parseArgs } from 'node:util';
import { findTagFaults, findVersionFaults } from './version-findings.ts';
import { projectRoot, readVersionTree } from './version-tree.ts';

const { values } = parseArgs({ options: { tag: { type: 'string' } } });
const tree = await readVersionTree(projectRoot);
// The sources are loaded only where there is a release to compare them with.
const ofTree = await findVersionFaults(tree, async () => {
  const { readSurface } = await import('./sources-surface.ts');
  return readSurface(tree);
});
const faults = [...ofTree, ...(values.tag === undefined ? [] : findTagFaults(tree, values.tag))];
for (const fault of faults) process.stderr.write(`${fault}\n`);
if (faults.length > 0) process.exitCode = 1;
