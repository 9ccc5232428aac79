// The program `static-export`: composition root. What its commands do is in src/cli. Composes the bundle server for
// `bundle serve`; hands the process to runCli and reads nothing of it itself.

import '../runtime/supported-node.ts';
import { CliError } from '../cli/cli-error.ts';
import { runCli } from '../cli/run-cli.ts';
import { systemClock } from '../runtime/clock.ts';

// The workers are in the folder of this file, in the sources and in the build.
const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'mjs';
const bundleWorker = new URL(`./bundle-worker.${extension}`, import.meta.url);
const valuesWorker = new URL(`./values-worker.${extension}`, import.meta.url);
const gitWorker = new URL(`./git-worker.${extension}`, import.meta.url);
const demoWorker = new URL(`./demo-worker.${extension}`, import.meta.url);
const mirrorWorker = new URL(`./mirror-worker.${extension}`, import.meta.url);
const variantWorker = new URL(`./variant-worker.${extension}`, import.meta.url);

await runCli(process, {
  bundleWorker,
  valuesWorker,
  gitWorker,
  demoWorker,
  serve: async (args, onServing, logger, shutdown) => {
    const { readInvocation } = await import('../runtime/flags/flags.ts');
    const { systemRandom } = await import('../runtime/random.ts');
    const { bundleServer } = await import('../site/server-flags.ts');
    const { runBundleServer } = await import('../site/bundle-server.ts');
    const invocation = readInvocation(bundleServer, '', args, {});
    if (invocation.outcome === 'refuse') throw new CliError('usage', 'WrongUsage', invocation.reason);
    if (invocation.outcome === 'print') throw new Error('the flags of the server asked for its help');
    const context = { clock: systemClock, random: systemRandom, logger, shutdown };
    const workers = { bundle: bundleWorker, mirror: mirrorWorker, variant: variantWorker };
    await runBundleServer(invocation.values, context, workers, undefined, onServing);
  },
});
