// The program `tap-static-export`: composition root of the Singer tap. It is `static-export conversations export --format
// singer` with the command line of taps. Reads nothing of the process but its arguments.

try {
  // First, because other modules may not load on an old Node.
  await import('#platform/runtime/supported-node.ts');
  const { readTapInvocation, tapAbout, tapHelp, tapVersion } = await import(
    '#conversations/commands/tap-arguments.ts'
  );
  const { singerCatalog } = await import('#conversations/sinks/singer-catalog.ts');
  const json = (value: object): string => `${JSON.stringify(value, undefined, 2)}\n`;
  const answers = {
    help: tapHelp,
    version: tapVersion,
    about: json(tapAbout),
    discover: json(singerCatalog),
  };
  const invocation = await readTapInvocation(process.argv.slice(2));
  if (invocation.kind === 'refuse') {
    process.stderr.write(`tap-static-export: ${invocation.reason}\n`);
    process.exitCode = 2;
  } else if (invocation.kind !== 'run') {
    process.stdout.write(answers[invocation.kind]);
  } else {
    const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'mjs';
    const { runCli } = await import('#cli/run-cli.ts');
    const { commandSections } = await import('./static-export-commands.ts');
    // The command reads them as if it had been started directly.
    process.argv = [...process.argv.slice(0, 2), ...invocation.args];
    Object.assign(process.env, invocation.env);
    const none = new URL('./', import.meta.url);
    await runCli(process, commandSections, {
      ...{
        listingWorker: new URL(`./listing-worker.${extension}`, import.meta.url),
        bundleWorker: none,
        siteWorker: none,
        valuesWorker: none,
        mirrorWorker: none,
        gitWorker: none,
        demoWorker: none,
      },
      serve: () => Promise.reject(new Error('the tap serves nothing')),
    });
  }
} catch (error) {
  const isIncomplete = error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';
  if (!isIncomplete) throw error;
  process.stderr.write(
    'tap-static-export: the folder static-export next to the program is missing or incomplete. Copy the whole package, or install it again.\n',
  );
  process.exitCode = 2;
}
