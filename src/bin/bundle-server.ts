// The program `bundle-server`: starts it with the process and with the workers that check bundles, prepare them and compress
// their files. Decides nothing; what it does is in src/server. Starts the first thread before it loads anything else, because
// both take as long.

import '#platform/runtime/supported-node.ts';
import { requireProxySettings } from '#platform/http/proxy-settings.ts';
import { systemClock } from '#platform/runtime/clock.ts';
import { startAhead } from '#platform/runtime/task.ts';
import { firstWorker } from '#server/first-worker.ts';

// The workers are in the folder of this file, in the sources and in the build.
const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'mjs';
const workers = {
  check: new URL(`./check-worker.${extension}`, import.meta.url),
  bundle: new URL(`./bundle-worker.${extension}`, import.meta.url),
  mcp: new URL(`./mcp-worker.${extension}`, import.meta.url),
  mirror: new URL(`./mirror-worker.${extension}`, import.meta.url),
  variant: new URL(`./variant-worker.${extension}`, import.meta.url),
};

const first = await firstWorker({ args: process.argv.slice(2), env: process.env }, workers);
// Where it cannot start, the task starts one itself and reports why not.
const refused = new AbortController();
if (first !== undefined) startAhead(first, systemClock, refused.signal).catch(() => {});

const { runProgram } = await import('#platform/runtime/program.ts');
const { bundleServer } = await import('#server/server-flags.ts');

await runProgram(process, bundleServer, async (flags, context) => {
  // The workers read it when they fetch, and would retry.
  requireProxySettings(process.env);
  const { runBundleServer } = await import('#server/bundle-server.ts');
  const { keepCollectionsRare } = await import('#platform/runtime/v8/heap-growth.ts');
  // Not before. With other flags, V8 compiles again what Node and the compile cache hold compiled: a thread takes twice as
  // long to start.
  await runBundleServer(flags, context, workers, undefined, () => keepCollectionsRare());
});
// Nothing was to be run: the flags are wrong, or a question was answered.
refused.abort();
