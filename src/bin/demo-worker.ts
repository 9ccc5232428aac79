// The program of a process that runs one of the demo's servers: the first argument names it, the others are its flags.
// Composes the server; reports its addresses to the process that started it, and ends with that process.

import '#platform/runtime/supported-node.ts';
import { runProgram } from '#platform/runtime/program.ts';

// The workers are in the folder of this file, in the sources and in the build.
const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'mjs';
const workerNamed = (name: string): URL => new URL(`./${name}-worker.${extension}`, import.meta.url);

const report = (url: string, adminUrl: string | undefined): void => {
  process.send?.({ url, adminUrl });
};
// The server reads its flags as if it had been started directly.
const [name] = process.argv.splice(2, 1);
process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
// The channel alone would keep a server that refused its flags.
process.channel?.unref();

if (name === 'export-service') {
  const { exportServiceProgram, runExportService } = await import('#export-service/program.ts');
  const workers = { crawl: workerNamed('crawl'), conversations: workerNamed('conversations') };
  await runProgram(process, exportServiceProgram, (values, context) =>
    runExportService(values, context, workers, report),
  );
} else if (name === 'bundle-server') {
  const { bundleServer } = await import('#server/server-flags.ts');
  const { runBundleServer } = await import('#server/bundle-server.ts');
  const workers = {
    check: workerNamed('check'),
    bundle: workerNamed('bundle'),
    mcp: workerNamed('mcp'),
    mirror: workerNamed('mirror'),
    variant: workerNamed('variant'),
  };
  await runProgram(process, bundleServer, (flags, context) =>
    runBundleServer(flags, context, workers, report),
  );
} else {
  process.stderr.write('demo-worker: the first argument must be export-service or bundle-server\n');
  process.exitCode = 2;
}
