// The program `static-export`: composition root. What it does is in src/cli.
// Passes the process to runCli and reads nothing of it itself.

import '../runtime/supported-node.ts';
import { runCli } from '../cli/run-cli.ts';

// The worker is in the folder of this file, in the sources and in the build.
const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'mjs';

await runCli(process, { bundleWorker: new URL(`./bundle-worker.${extension}`, import.meta.url) });
