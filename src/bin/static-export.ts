// The program `static-export`: composition root. What its commands do is in src/cli. Composes the bundle server for
// `bundle serve`; hands the process to runCli and reads nothing of it itself. Imports nothing before it runs, so that a
// file that was copied without its folder says so, instead of a stack of Node's module loader.

// The workers are in the folder of this file, in the sources and in the build.
const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'mjs';
const workerOf = (name: string): URL => new URL(`./${name}-worker.${extension}`, import.meta.url);
const bundleWorker = workerOf('bundle');

try {
  // First, because other modules may not load on an old Node.
  await import('#platform/runtime/supported-node.ts');
  const { runCli } = await import('#cli/run-cli.ts');
  const { commandSections } = await import('./static-export-commands.ts');
  await runCli(process, commandSections, {
    bundleWorker,
    siteWorker: workerOf('site'),
    listingWorker: workerOf('listing'),
    valuesWorker: workerOf('values'),
    mirrorWorker: workerOf('mirror'),
    gitWorker: workerOf('git'),
    demoWorker: workerOf('demo'),
    serve: async (args, onServing, logger, shutdown) => {
      const { readInvocation } = await import('#platform/runtime/flags/flags.ts');
      const { systemClock } = await import('#platform/runtime/clock.ts');
      const { systemRandom } = await import('#platform/runtime/random.ts');
      const { bundleServer } = await import('#server/server-flags.ts');
      const { runBundleServer } = await import('#server/bundle-server.ts');
      const { CliError } = await import('#cli/cli-error.ts');
      const invocation = readInvocation(bundleServer, '', args, {});
      if (invocation.outcome === 'refuse') throw new CliError('usage', 'WrongUsage', invocation.reason);
      if (invocation.outcome === 'print') throw new Error('the flags of the server asked for its help');
      const context = { clock: systemClock, random: systemRandom, logger, shutdown };
      const workers = {
        ...{ check: workerOf('check'), bundle: bundleWorker },
        ...{ mcp: workerOf('mcp'), mirror: workerOf('mirror'), variant: workerOf('variant') },
      };
      await runBundleServer(invocation.values, context, workers, undefined, onServing);
    },
  });
} catch (error) {
  const isIncomplete = error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';
  if (!isIncomplete) throw error;
  process.stderr.write(
    'static-export: the folder static-export next to the program is missing or incomplete. Copy the whole package, or install it again.\n',
  );
  process.exitCode = 2;
}
