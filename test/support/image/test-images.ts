// The images of an end-to-end run: the product's, built from its own Dockerfile on a local base, and the sandbox's.
// Owns a folder with the archives; nothing is pulled, and nothing outside the folder is written.

import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Platform } from '../../../packaging/base/base-lock.ts';
import { findOwnMirror } from '../../../packaging/base/base-root.ts';
import { buildImageArchive } from '../../../packaging/release/image-archive.ts';
import { releaseEnvironment } from '../../../packaging/release/tool.ts';
import { mustRun } from '../command.ts';
import { sandboxImage } from '../node/container-runtime.ts';
import { ownPrefix, sweepRemains } from '../node/remains.ts';
import { releaseSeconds } from '../small-release.ts';
import { fillBuilderRoot, findBaseRoot } from './base-root.ts';
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
/** The same of {@link buildPreviousImage}. */
export const previousImage = { ...productImage, tag: 'previous' };

/** All of them. @throws Error with what the build wrote when it failed */
export function buildTestImages(): Promise<TestImages> {
  return inFolder(async (folder, builder) => {
    const programs = await bundlePrograms(join(folder, 'programs'));
    await buildBase(folder, builder);
    const product = `${productImage.repository}:${productImage.tag}`;
    await builder.build({
      name: product,
      context: project,
      dockerfile: join(project, 'Dockerfile'),
      stages: { ...bases, programs, documents: await writeDocuments(join(folder, 'documents')) },
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
    const work = join(folder, 'work');
    await mkdir(work);
    const archive = join(folder, 'image.oci.tar');
    await buildImageArchive({
      place: { cwd: project, env: releaseEnvironment(process.env, releaseSeconds) },
      mirror: undefined,
      ...{ folder: work, programs, documents, version, to: archive },
      ...{ commit: 'abc', source: undefined, seconds: releaseSeconds },
    });
    return { archive, sandbox: await buildSandbox(folder, builder) };
  });
}

/**
 * The product's image as its Dockerfile builds it from the sources alone, `npm ci` included: nothing but the builder's
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
    const archive = await buildSources(folder, builder, {
      name: 'localhost/from-sources:1',
      sources: project,
      args: { VERSION: '1.2.3', REVISION: 'abc', SOURCE: 'https://git.example.com/docs/operator' },
    });
    const programs = await bundlePrograms(join(folder, 'programs'));
    return { archive, programs, metafiles: metafilesOf(programs) };
  });
}

/**
 * The product's image of earlier sources, by their own Dockerfile alone, for nodes that run today's image too.
 * @param sources folder of a whole checkout
 */
export function buildPreviousImage(
  sources: string,
): Promise<{ readonly archive: string; remove(): Promise<void> }> {
  const name = `${previousImage.repository}:${previousImage.tag}`;
  return inFolder(async (folder, builder) => {
    // Before the first release, the Dockerfile made no base of its own.
    const needsBase = /^ARG BASE=/m.test(await readFile(join(sources, 'Dockerfile'), 'utf8'));
    if (needsBase) await buildBase(folder, builder);
    const args = needsBase ? { BASE: ownBase } : {};
    return { archive: await buildSources(folder, builder, { name, sources, args }) };
  });
}

interface SourcesOrder {
  readonly name: string;
  readonly sources: string;
  /** In addition to the builder and the mirror of Debian. */
  readonly args: Readonly<Record<string, string>>;
}

/** @returns the archive */
async function buildSources(
  folder: string,
  builder: ImageBuilder,
  { name, sources, args }: SourcesOrder,
): Promise<string> {
  // This machine may reach the registry through something with an authority of its own.
  const trust =
    'ENV PATH=/usr/local/bin:/usr/bin:/bin NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt';
  const root = join(folder, 'builder');
  await mkdir(root);
  await fillBuilderRoot(root);
  const recipe = await writeRecipe(folder, 'builder', ['FROM scratch', 'COPY . /', trust]);
  await builder.build({ name: 'localhost/builder:1', context: root, dockerfile: recipe });
  const settings = join(homedir(), '.npmrc');
  const cache = (await mustRun(['npm', 'config', 'get', 'cache', '--silent'])).trim();
  const mounts = existsSync(settings) ? { [settings]: '/root/.npmrc' } : {};
  await builder.build({
    name,
    context: sources,
    dockerfile: join(sources, 'Dockerfile'),
    args: {
      BUILDER: 'localhost/builder:1',
      DEBIAN_MIRROR: await findOwnMirror({ cwd: project, env: releaseEnvironment(process.env, 0) }),
      ...args,
    },
    mounts: { ...mounts, ...(existsSync(cache) && { [cache]: '/root/.npm' }) },
  });
  return builder.save(name);
}

/**
 * The product's image for an architecture that this machine cannot run: on the base for it, Node is of the other architecture. Whatever the build ran of it would fail.
 */
export function buildForeign(platform: Platform): Promise<{
  readonly archive: string;
  readonly programs: string;
  remove(): Promise<void>;
}> {
  return inFolder(async (folder, builder) => {
    await buildBase(folder, builder);
    await buildBase(folder, builder, platform);
    const programs = await bundlePrograms(join(folder, 'programs'));
    const product = 'localhost/foreign:1';
    await builder.build({
      name: product,
      platform,
      context: project,
      dockerfile: join(project, 'Dockerfile'),
      stages: {
        ...bases,
        base: `docker-image://${foreignBase}`,
        programs,
        documents: await writeDocuments(join(folder, 'documents')),
      },
    });
    return { archive: await builder.save(product), programs };
  });
}

const ownBase = 'localhost/base:1';
const bases = { base: `docker-image://${ownBase}`, own: `docker-image://${ownBase}` };
const foreignBase = 'localhost/foreign-base:1';

/** @param platform another than the machine's */
async function buildBase(folder: string, builder: ImageBuilder, platform?: Platform): Promise<void> {
  const root = await findBaseRoot(platform ?? 'linux/amd64');
  const dockerfile = await writeRecipe(folder, 'base', ['FROM scratch', 'COPY . /']);
  const own = { name: ownBase, context: root, dockerfile };
  await builder.build(platform === undefined ? own : { ...own, name: foreignBase, platform });
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

// `npm run build` writes source maps and metafiles next to the bundles; the image has no use for them.
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
