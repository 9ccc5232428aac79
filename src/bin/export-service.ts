// The program `export-service`: composition root. What it does is in src/export-service.
// Passes the process to runProgram and reads nothing of it itself.

import '#platform/runtime/supported-node.ts';
import { exportServiceProgram, runExportService } from '#export-service/program.ts';
import { runProgram } from '#platform/runtime/program.ts';

// The workers are in the folder of this file, in the sources and in the build.
const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'mjs';
const workerNamed = (name: string): URL => new URL(`./${name}-worker.${extension}`, import.meta.url);
const workers = { crawl: workerNamed('crawl'), conversations: workerNamed('conversations') };

await runProgram(process, exportServiceProgram, (values, context) =>
  runExportService(values, context, workers),
);
