// The bundle server as it is shipped: one file for each program, made by the same tool as the image's.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

const bin = join(import.meta.dirname, '../../../src/bin');

/** @returns the path of the program; its workers are beside it */
export async function buildServer(outdir: string): Promise<string> {
  const isNeeded = (name: string): boolean => name === 'bundle-server.ts' || name.endsWith('-worker.ts');
  await build({
    entryPoints: readdirSync(bin)
      .filter(isNeeded)
      .map((name) => join(bin, name)),
    outdir,
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    outExtension: { '.js': '.mjs' },
    external: ['bufferutil', 'utf-8-validate', 'supports-color'],
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
    logLevel: 'warning',
  });
  return join(outdir, 'bundle-server.mjs');
}
