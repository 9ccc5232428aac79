// The program `bundle-server`: hands it the process, and the workers that prepare bundles and code their files.
// Decides nothing; what it does is in src/site.

import '../runtime/supported-node.ts';
import '../runtime/v8/small-heap.ts';
import { runProgram } from '../runtime/program.ts';
import { keepWasmPlain } from '../runtime/v8/plain-wasm.ts';
import { runBundleServer } from '../site/bundle-server.ts';
import { bundleServer } from '../site/server-flags.ts';

keepWasmPlain();

// The workers stand beside this file, in the sources and in what the build makes of them.
const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'mjs';
const workers = {
  bundle: new URL(`./bundle-worker.${extension}`, import.meta.url),
  variant: new URL(`./variant-worker.${extension}`, import.meta.url),
};

await runProgram(process, bundleServer, (flags, edge) => runBundleServer(flags, edge, workers));
