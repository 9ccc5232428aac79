// A part of `npm run check`: versions, changelog and removed names. With `--tag`, also whether the tag names what was
// prepared. Writes nothing.
//
//   npm run check:version [-- --tag vX.Y.Z]

import { readCommandLine, runCommandLine } from './command-line.ts';
import { findTagFaults, findVersionFaults } from './version-findings.ts';
import { projectRoot, readVersionTree } from './version-tree.ts';

const name = 'check:version';
const usage = `Usage: npm run check:version [-- --tag vX.Y.Z]

Compares all places that name the version, the changelog, and the names that users depend on. Writes nothing, and ends with 1
if a place differs.

  --tag vX.Y.Z  also compares this tag with the version that was prepared
`;

await runCommandLine(name, async () => {
  const options = { tag: { type: 'string' }, help: { type: 'boolean', default: false } } as const;
  const { values } = readCommandLine(name, { options });
  if (values.help) {
    process.stdout.write(usage);
    return;
  }
  const tree = await readVersionTree(projectRoot);
  // The sources are loaded only where there is a release to compare them with.
  const ofTree = await findVersionFaults(tree, async () => {
    const { readSurface } = await import('./sources-surface.ts');
    return readSurface(tree);
  });
  const faults = [...ofTree, ...(values.tag === undefined ? [] : findTagFaults(tree, values.tag))];
  for (const fault of faults) process.stderr.write(`${fault}\n`);
  if (faults.length > 0) process.exitCode = 1;
});
