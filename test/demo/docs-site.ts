// The docs site that the demo exports: real pages of other projects (the Markdown in the packages of undici and pino)
// and the project's own READMEs, built with VitePress. The demo's docs team publishes by editing a page and building
// again. Or a site of the user's, of which the archive alone says what readers get.

import { execFile } from 'node:child_process';
import { appendFile, cp, glob, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createGunzip } from 'node:zlib';
import { extract } from 'tar-stream';
import { contentTypeOf } from '#bundle/content-type.ts';
import { parsePublishedBundle } from '#bundle/published-bundle.ts';
import { type DemoSite, type SiteState, startOrigin } from '#cli/demo/origin.ts';
import type { DemoSiteFile, SiteEdition } from '#cli/demo/site-pages.ts';
import { systemClock } from '#platform/runtime/clock.ts';

const project = join(import.meta.dirname, '../..');
const packages = join(project, 'node_modules');

/** @param folder for its sources */
export async function startDocsSite(folder: string): Promise<DemoSite> {
  await collect(join(packages, 'undici/docs/docs'), join(folder, 'undici'));
  await collect(join(packages, 'pino/docs'), join(folder, 'pino'));
  await cp(join(packages, 'undici/README.md'), join(folder, 'undici/index.md'));
  await cp(join(packages, 'pino/README.md'), join(folder, 'pino/index.md'));
  await cp(join(project, 'README.md'), join(folder, 'index.md'));
  for (const room of ['src', 'test', 'crds']) {
    await mkdir(join(folder, 'project'), { recursive: true });
    await cp(join(project, room, 'README.md'), join(folder, 'project', `${room}.md`));
  }
  await mkdir(join(folder, '.vitepress'), { recursive: true });
  await cp(join(import.meta.dirname, 'vitepress-config.ts'), join(folder, '.vitepress/config.ts'));
  await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n');
  await symlink(packages, join(folder, 'node_modules'));
  const first = await build(folder);
  const origin = await startOrigin(first, systemClock);
  const editionOf = async (state: SiteState): Promise<SiteEdition> => {
    if (state === 'first') return first;
    if (state === 'empty') return new Map();
    if (state === 'shrunken')
      return new Map([...first].filter(([path]) => /^\/(?:index\.html)?$/.test(path)));
    await appendFile(join(folder, 'pino/api.md'), '\nEdited for the demo.\n');
    return build(folder);
  };
  return {
    url: origin.url,
    pages: [...pagesOf(first).keys()].filter((path) => path !== '/404.html').length,
    canChange: true,
    show: async (state) => {
      const edition = await editionOf(state);
      origin.show(edition);
      return pagesOf(edition);
    },
    close: origin.close,
  };
}

/** @param bundleFile names the archive, once it is published */
export const userSite = (url: string, bundleFile: string): DemoSite => ({
  url,
  pages: undefined,
  canChange: false,
  show: async () => {
    const { link } = parsePublishedBundle(await readFile(bundleFile, 'utf8'));
    const answer = await fetch(link?.url.reveal() ?? '');
    if (!answer.ok || answer.body === null) throw new Error(`the archive answers ${answer.status}`);
    const entries = extract();
    const reading = pipeline(Readable.fromWeb(answer.body), createGunzip(), entries);
    const edition = new Map<string, DemoSiteFile>();
    for await (const entry of entries) {
      const path = `/${entry.header.name.split('/').map(encodeURIComponent).join('/')}`;
      const body = await buffer(entry);
      if (path.endsWith('.html')) edition.set(path, { type: 'text/html', body });
    }
    await reading;
    return pagesOf(edition);
  },
  close: async () => {},
});

async function collect(source: string, target: string): Promise<void> {
  for await (const file of glob('**/*.md', { cwd: source })) {
    const to = join(target, file);
    await mkdir(dirname(to), { recursive: true });
    await cp(join(source, file), to);
  }
}

async function build(folder: string): Promise<SiteEdition> {
  const dist = join(folder, 'dist');
  await rm(dist, { recursive: true, force: true });
  const vitepress = join(packages, 'vitepress/bin/vitepress.js');
  try {
    await promisify(execFile)(process.execPath, [vitepress, 'build'], {
      cwd: folder,
      env: { ...process.env, SITE_OUT_DIR: relative(folder, dist) },
      maxBuffer: 16 * 1024 * 1024,
    });
  } catch (error) {
    const text = error instanceof Error && 'stderr' in error ? String(error.stderr) : '';
    throw new Error(`the docs site did not build:\n${text.slice(-2000)}`, { cause: error });
  }
  return readEdition(dist);
}

/** A page of a folder also has the folder's address. */
async function readEdition(dist: string): Promise<SiteEdition> {
  const edition = new Map<string, DemoSiteFile>();
  for (const entry of await readdir(dist, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    const path = `/${relative(dist, file)}`;
    const content = { type: contentTypeOf(path), body: await readFile(file) };
    edition.set(path, content);
    if (entry.name === 'index.html') edition.set(path.slice(0, -'index.html'.length), content);
  }
  return edition;
}

/** What visitors open. What pages load is in the archive only as far as they name it. */
const pagesOf = (edition: SiteEdition): SiteEdition =>
  new Map([...edition].filter(([path]) => path.endsWith('.html')));
