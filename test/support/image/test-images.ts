// The images of an end-to-end run: the product's, built from its own Dockerfile on a local base, and the sandbox's.
// Owns a folder with the archives; nothing is pulled, and nothing outside the folder is written.

import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, rename, rm, stat, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { buildImageArchive } from '../../../packaging/release/image-archive.ts';
import { readBase } from '../../../packaging/release/image-layout.ts';
import { releaseEnvironment } from '../../../packaging/release/tool.ts';
import { mustRun } from '../command.ts';
import { sandboxImage } from '../node/container-runtime.ts';
import { ownPrefix, sweepRemains } from '../node/remains.ts';
import { releaseSeconds } from '../small-release.ts';
import { buildBaseLayout } from './base-layout.ts';
import { fillBaseRoot, fillBuilderRoot } from './base-root.ts';
import { createImageBuilder, type ImageBuilder } from './image-builder.ts';

const project = resolve(import.meta.dirname, '../../..');

export interface TestImages {
  /** Name of the product's image, as pods ask for it. */
  readonly product: string;
  /** Every archive to import. */
  readonly archives: readonly string[];
  readonly productBytes: number;
  /** What the programs add to the base. */
  readonly programBytes: number;
  remove(): Promise<void>;
}

/** The name that charts are given as `repository` and `tag`. */
export const productImage = { repository: 'localhost/static-export-operator', tag: 'e2e' };

/** All of them. @throws Error with what the build wrote when it failed */
export function buildTestImages(): Promise<TestImages> {
  return inFolder(async (folder, builder) => {
    const programs = await bundlePrograms(join(folder, 'programs'));
    await buildBase(folder, builder, 'base', fillBaseRoot);
    const product = `${productImage.repository}:${productImage.tag}`;
    await builder.build({
      name: product,
      context: project,
      dockerfile: join(project, 'Dockerfile'),
      args: { BASE: 'localhost/base:1' },
      stages: { programs, documents: await writeDocuments(join(folder, 'documents')) },
    });
    const archive = await builder.save(product);
    const productBytes = (await stat(archive)).size;
    const programBytes = Number((await mustRun(['du', '--bytes', '--summarize', programs])).split('\t')[0]);
    return { product, archives: [await buildSandbox(folder, builder), archive], productBytes, programBytes };
  });
}

/** The image of both platforms as a release has it, on local bases, and the sandbox's for nodes that pull the other one. */
export function buildReleaseImage(
  version: string,
): Promise<{ readonly archive: string; readonly sandbox: string; remove(): Promise<void> }> {
  return inFolder(async (folder, builder) => {
    const programs = await bundlePrograms(join(folder, 'programs'));
    const documents = await writeDocuments(join(folder, 'documents'));
    const [bases, work] = [join(folder, 'bases'), join(folder, 'work')];
    for (const each of [bases, work]) await mkdir(each);
    const archive = join(folder, 'image.oci.tar');
    const base = readBase(await buildBaseLayout(bases), false);
    if (typeof base === 'string') throw new Error(base);
    await buildImageArchive({
      place: { cwd: project, env: releaseEnvironment(process.env, releaseSeconds) },
      base,
      ...{ folder: work, programs, documents, version, to: archive },
      ...{ commit: 'abc', source: undefined, seconds: releaseSeconds },
    });
    return { archive, sandbox: await buildSandbox(folder, builder) };
  });
}

/**
 * The product's image as its Dockerfile builds it from the sources alone, `npm ci` included: nothing but the two bases
 * is made here. Asks the package registry as this machine's npm does.
 */
export function buildFromSources(): Promise<{
  readonly archive: string;
  /** The programs as `npm run build` makes them in this checkout. */
  readonly programs: string;
  /** What the bundler says went into them. */
  readonly metafiles: readonly string[];
  remove(): Promise<void>;
}> {
  return inFolder(async (folder, builder) => {
    await buildBase(folder, builder, 'base', fillBaseRoot);
    // This machine may reach the registry through something with an authority of its own.
    const trust = 'ENV PATH=/usr/local/bin:/bin NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt';
    await buildBase(folder, builder, 'builder', fillBuilderRoot, trust);
    const settings = join(homedir(), '.npmrc');
    const cache = (await mustRun(['npm', 'config', 'get', 'cache', '--silent'])).trim();
    const mounts = existsSync(settings) ? { [settings]: '/root/.npmrc' } : {};
    const name = 'localhost/from-sources:1';
    await builder.build({
      name,
      context: project,
      dockerfile: join(project, 'Dockerfile'),
      args: {
        BASE: 'localhost/base:1',
        BUILDER: 'localhost/builder:1',
        VERSION: '1.2.3',
        REVISION: 'abc',
        SOURCE: 'https://git.example.com/docs/operator',
      },
      mounts: { ...mounts, ...(existsSync(cache) && { [cache]: '/root/.npm' }) },
    });
    const programs = await bundlePrograms(join(folder, 'programs'));
    return { archive: await builder.save(name), programs, metafiles: metafilesOf(programs) };
  });
}

/**
 * The product's image for an architecture that this machine cannot run: on the base for it, Node is a file without any
 * code. Whatever the build ran of it would fail.
 */
export function buildForeign(platform: string): Promise<{
  readonly archive: string;
  readonly programs: string;
  remove(): Promise<void>;
}> {
  return inFolder(async (folder, builder) => {
    const name = 'localhost/bases:1';
    const recipe = await writeRecipe(folder, 'bases', ['FROM scratch', 'COPY . /']);
    for (const [at, one] of [undefined, platform].entries()) {
      const context = join(folder, `base-${at}`);
      await mkdir(context);
      await fillBaseRoot(context);
      if (one !== undefined) await writeFile(join(context, 'nodejs/bin/node'), 'of another machine\n');
      const place = one === undefined ? {} : { platform: one };
      await builder.build({ name, context, dockerfile: recipe, isListed: true, ...place });
    }
    const programs = await bundlePrograms(join(folder, 'programs'));
    const product = 'localhost/foreign:1';
    await builder.build({
      name: product,
      platform,
      context: project,
      dockerfile: join(project, 'Dockerfile'),
      args: { BASE: name },
      stages: { programs, documents: await writeDocuments(join(folder, 'documents')) },
    });
    return { archive: await builder.save(product), programs };
  });
}

async function buildBase(
  folder: string,
  builder: ImageBuilder,
  name: string,
  fill: (root: string) => Promise<void>,
  ...more: readonly string[]
): Promise<void> {
  const context = join(folder, name);
  await mkdir(context);
  await fill(context);
  const dockerfile = await writeRecipe(folder, name, ['FROM scratch', 'COPY . /', ...more]);
  await builder.build({ name: `localhost/${name}:1`, context, dockerfile });
}

/** The sandbox's alone, for nodes that run nothing else. */
export function buildSandboxImage(): Promise<Pick<TestImages, 'archives' | 'remove'>> {
  return inFolder(async (folder, builder) => ({ archives: [await buildSandbox(folder, builder)] }));
}

async function inFolder<T>(
  build: (folder: string, builder: ImageBuilder) => Promise<T>,
): Promise<T & Pick<TestImages, 'remove'>> {
  await sweepRemains();
  const folder = await mkdtemp(join(tmpdir(), `${ownPrefix()}images-`));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true, maxRetries: 3 });
  try {
    return { ...(await build(folder, await createImageBuilder(folder))), remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Of the programs, and of the command line and the server, which are in pieces. */
const metafileNames = ['programs.meta.json', 'static-export.meta.json', 'bundle-server.meta.json'];

function metafilesOf(programs: string): readonly string[] {
  return metafileNames.map((name) => `${programs}.${name}`);
}

// `npm run build` writes source maps and metafiles beside the bundles; the image has no use for them.
async function bundlePrograms(folder: string): Promise<string> {
  await mustRun(['npm', '--prefix', project, 'run', 'build', '--silent'], { env: { OUT: folder } });
  await mustRun(['find', folder, '-name', '*.map', '-delete']);
  for (const name of metafileNames) await rename(join(folder, name), `${folder}.${name}`);
  return folder;
}

async function writeDocuments(folder: string): Promise<string> {
  await mustRun([process.execPath, join(project, '.ci/third-party.ts'), folder]);
  return folder;
}

async function buildSandbox(folder: string, builder: ImageBuilder): Promise<string> {
  const context = join(folder, 'sandbox');
  await mkdir(context);
  await copyFile('/bin/busybox', join(context, 'busybox'));
  const recipe = [
    'FROM scratch',
    'COPY busybox /bin/busybox',
    'ENTRYPOINT ["/bin/busybox", "sleep", "2147483647"]',
  ];
  await builder.build({
    name: sandboxImage,
    context,
    dockerfile: await writeRecipe(folder, 'sandbox', recipe),
  });
  return builder.save(sandboxImage);
}

async function writeRecipe(folder: string, name: string, lines: readonly string[]): Promise<string> {
  const file = join(folder, `${name}.dockerfile`);
  await writeFile(file, `${lines.join('\n')}\n`);
  return file;
}
