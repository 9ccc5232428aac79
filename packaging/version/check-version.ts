// A part of `npm run check`: versions, changelog and removed names. Writes nothing.

import { findVersionFaults } from './version-findings.ts';
import { projectRoot, readVersionTree } from './version-tree.ts';

const tree = await readVersionTree(projectRoot);
// The sources are loaded only where there is a release to compare them with.
const faults = await findVersionFaults(tree, async () => {
  const { readSurface } = await import('./sources-surface.ts');
  return readSurface(tree);
});
for (const fault of faults) process.stderr.write(`${fault}\n`);
if (faults.length > 0) process.exitCode = 1;
