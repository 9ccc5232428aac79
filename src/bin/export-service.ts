// The program `export-service`: composition root. What it does is in src/export-service.
// Hands the process to the frame around every program; reads nothing of it itself.

import '../runtime/supported-node.ts';
import { exportServiceProgram, runExportService } from '../export-service/program.ts';
import { runProgram } from '../runtime/program.ts';

// The worker stands beside this file, in the sources and in what the build makes of them.
const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'mjs';
const workerUrl = new URL(`./crawl-worker.${extension}`, import.meta.url);

await runProgram(process, exportServiceProgram, (values, edge) => runExportService(values, edge, workerUrl));
