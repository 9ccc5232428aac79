// Ends a program on a Node that is older than `engines` in package.json. Imported first, for its effect alone, because
// modules loaded later may fail on such a Node with an unclear error. A missing export fails even earlier, so names
// that Node 18 or 20 does not have are read from the default export of their module.

import process from 'node:process';
import { isOlder, oldestNode } from './version.ts';

if (isOlder(process.versions.node, oldestNode)) {
  process.stderr.write(
    `This program needs Node ${oldestNode} or newer, and this is Node ${process.versions.node}. Install Node ${oldestNode}.\n`,
  );
  process.exit(2);
}
