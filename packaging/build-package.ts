// Builds what users install: the npm package, and the manifest with which krew installs the same archive. Takes programs
// that `npm run build` has built. The repository's own package.json is not published: the package has no dependencies and
// no scripts. Refuses: anything that differs from one build to the next.
//
//   node packaging/build-package.ts FOLDER [--archive-uri URL]     FOLDER holds the programs, and gets package/, the
//                                                                  archive of it, and static-export.yaml for krew

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { commands } from '#bin/static-export-commands.ts';
import { programName } from '#cli/command.ts';
import { tapHelp } from '#conversations/commands/tap-arguments.ts';
import { readThirdParty, writeNotices } from '../.ci/third-party.ts';
import { bundledPackages, isPackagePart, tap, workerFile } from './bundled-packages.ts';
import { referenceOf } from './command-reference.ts';
import { krewManifest, pluginName } from './krew-manifest.ts';
import { manPageOfHelp, manPages, readExitCodes } from './man-pages.ts';

const root = resolve(import.meta.dirname, '..');
const packageName = 'static-export-cli';
const plugin = 'kubectl-static_export';
const completionOfPlugin = 'kubectl_complete-static_export';

const manifestShape = z.object({
  version: z.string(),
  license: z.string(),
  engines: z.object({ node: z.string() }),
});
const readText = (file: string): Promise<string> => readFile(join(root, file), 'utf8');

async function buildPackage(programs: string, folder: string): Promise<string> {
  const { version, license, engines } = manifestShape.parse(JSON.parse(await readText('package.json')));
  await rm(folder, { recursive: true, force: true });
  await mkdir(join(folder, 'man'), { recursive: true });
  for (const name of [programName, tap]) {
    const program = await readFile(join(programs, `${name}.mjs`), 'utf8');
    await writeFile(join(folder, `${name}.mjs`), `#!/usr/bin/env node\n${program}`, { mode: 0o755 });
  }
  await cp(join(programs, programName), join(folder, programName), { recursive: true });
  const workers = (await readdir(programs)).filter((name) => workerFile.test(name));
  for (const name of workers) await cp(join(programs, name), join(folder, name));
  const exitCodes = readExitCodes(await readText('src/cli/README.md'));
  const pages = new Map([
    ...manPages(commands.map(referenceOf), exitCodes, version),
    manPageOfHelp(tap, 'assistant conversations as a Singer tap', tapHelp, version),
  ]);
  for (const [name, text] of pages) await writeFile(join(folder, 'man', name), text);
  await cp(join(root, 'packaging', completionOfPlugin), join(folder, completionOfPlugin));
  await cp(join(root, 'packaging/README.md'), join(folder, 'README.md'));
  await cp(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  await writeFile(join(folder, 'THIRD-PARTY-NOTICES.txt'), await noticesOf(programs));
  const manifest = {
    name: packageName,
    version,
    description: 'Exports, checks, publishes and diagnoses exported docs sites, with and without a cluster',
    license,
    type: 'module',
    engines,
    bin: {
      [programName]: `${programName}.mjs`,
      [plugin]: `${programName}.mjs`,
      [tap]: `${tap}.mjs`,
      [completionOfPlugin]: completionOfPlugin,
    },
    man: [...pages.keys()].map((name) => `man/${name}`),
  };
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
  return version;
}

/** The licences of the packages that are in the program and its workers. */
async function noticesOf(programs: string): Promise<string> {
  const bundled = await bundledPackages(root, programs, isPackagePart);
  const { bill, textsOf } = readThirdParty();
  const components = bill.components.filter(({ name }) => bundled.has(name));
  return writeNotices({ ...bill, components }, textsOf, 'The program is made of these packages.\n');
}

const [target = 'dist', ...rest] = process.argv.slice(2);
const folder = resolve(target);
const version = await buildPackage(folder, join(folder, 'package'));
const archive = `${packageName}-${version}.tgz`;
execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: join(folder, 'package') });
const bytes = await readFile(join(folder, archive));
const uri = rest[0] === '--archive-uri' && rest[1] !== undefined ? rest[1] : archive;
const sha256 = createHash('sha256').update(bytes).digest('hex');
await writeFile(join(folder, `${pluginName}.yaml`), krewManifest({ version, uri, sha256 }));
process.stdout.write(`${join(target, archive)}  ${Math.ceil(bytes.length / 1024)} KiB\n`);
