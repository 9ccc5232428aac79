// A program that starts a node, says "held", and waits: for tests that end it in every way a runner can end.
//   node held-node.ts ARCHIVE

import { startNode } from './node.ts';

const nodes = await startNode({ images: process.argv.slice(2) });
process.stdout.write(`held ${nodes.folder}\n`);
// The cluster's own programs keep this one alive.
