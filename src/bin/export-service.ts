// The program `export-service`: composition root. What it does is in src/export-service.
// Hands the process to the frame around every program; reads nothing of it itself.

import { exportServiceProgram, runExportService } from '../export-service/program.ts';
import { runProgram } from '../runtime/program.ts';

await runProgram(process, exportServiceProgram, runExportService);
