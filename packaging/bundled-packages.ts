// Which npm packages are in built programs, as the bundler's metafiles say: only those whose code is in an output. Owns what
// belongs to the package that users install. Refuses a folder without metafiles.

import { readFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { z } from 'zod';
import { programName } from '#cli/command.ts';

/** Shares the folder of the program's parts. */
export const tap = 'tap-static-export';
/** The programs of its threads and processes, with their notices; only bundle-server restores from a mirror. */
export const workerFile = /^(?!mirror-)[a-z]+-worker\.mjs(?:\.LEGAL\.txt)?$/;

/** Whether the package that users install has this file of the programs. */
export const isPackagePart = (file: string): boolean =>
  file === `${programName}.mjs` ||
  file === `${tap}.mjs` ||
  file.startsWith(`${programName}/`) ||
  workerFile.test(file);

const metafiles = ['programs.meta.json', `${programName}.meta.json`, 'bundle-server.meta.json'];
const metafileShape = z.object({
  outputs: z.record(
    z.string(),
    z.object({ inputs: z.record(z.string(), z.object({ bytesInOutput: z.number() })).default({}) }),
  ),
});

/**
 * @param root in which the bundler ran
 * @param programs the folder that it wrote
 * @param isPart of a file's path below `programs`
 * @returns names of packages
 */
export async function bundledPackages(
  root: string,
  programs: string,
  isPart: (file: string) => boolean,
): Promise<ReadonlySet<string>> {
  const bundled = new Set<string>();
  for (const name of metafiles) {
    const { outputs } = metafileShape.parse(JSON.parse(await readFile(join(programs, name), 'utf8')));
    for (const [output, { inputs }] of Object.entries(outputs)) {
      if (!isPart(relative(programs, resolve(root, output)))) continue;
      for (const [path, { bytesInOutput }] of Object.entries(inputs)) {
        const found = /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1];
        if (found !== undefined && bytesInOutput > 0) bundled.add(found);
      }
    }
  }
  return bundled;
}
