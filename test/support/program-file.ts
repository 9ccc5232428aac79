// The file of a program that a test starts: its sources, or the built program where `npm run test:integration` has
// built all of them first. A built program starts with a quarter of the CPU time.

import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const builtFolder = process.env['PROGRAMS_FOLDER'];

/** @param name as in `src/bin` */
export const programFile = (
  name:
    | 'bundle-server'
    | 'export-service'
    | 'operator'
    | 'static-export'
    | 'tap-static-export'
    | 'webhook-receiver',
): string =>
  builtFolder === undefined
    ? resolve(import.meta.dirname, `../../src/bin/${name}.ts`)
    : join(builtFolder, `${name}.mjs`);

/** The program of a thread. @param name as in `src/bin`, without `-worker` */
export const workerFile = (
  name: 'bundle' | 'check' | 'conversations' | 'git' | 'listing' | 'mcp' | 'mirror' | 'values' | 'variant',
): URL =>
  builtFolder === undefined
    ? new URL(`../../src/bin/${name}-worker.ts`, import.meta.url)
    : pathToFileURL(join(builtFolder, `${name}-worker.mjs`));
