// Whether this process may make network and mount namespaces, found out by making some: root alone does not say so,
// where the machine is a container itself.

import { spawnSync } from 'node:child_process';
import { maySkip } from './may-skip.ts';

const tried = spawnSync('unshare', ['--net', '--mount', 'true']);

/** Why tests with namespaces or mounts of their own are skipped here; `false` when they are not. */
export const noNamespaces = maySkip(
  'root',
  tried.status !== 0 && 'a network or mount namespace of its own needs root, and unshare (util-linux)',
);
