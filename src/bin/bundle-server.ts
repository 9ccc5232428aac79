// The program `bundle-server`: hands it the process, and the worker that prepares bundles in a thread.
// Decides nothing; what it does is in src/site.

import { runProgram } from '../runtime/program.ts';
import { runBundleServer } from '../site/bundle-server.ts';
import { bundleServer } from '../site/server-flags.ts';

// The worker stands beside this file, in the sources and in what the build makes of them.
const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'mjs';
const workerUrl = new URL(`./bundle-worker.${extension}`, import.meta.url);

await runProgram(process, bundleServer, (flags, edge) => runBundleServer(flags, edge, workerUrl));
