// The docs site that the demo exports: real pages of other projects (the Markdown in the packages of undici and pino)
// and the project's own READMEs, built with VitePress. The demo's docs team publishes by editing a page and building
// again.

import { execFile } from 'node:child_process';
import { appendFile, cp, glob, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import type { SiteEdition, SiteFile } from '../../src/cli/demo/site-pages.ts';
import { contentTypeOf } from '../../src/site/http/content-type.ts';

const project = join(import.meta.dirname, '../..');
const packages = join(project, 'node_modules');

export interface DocsSite {
  readonly first: SiteEdition;
  /** Appends a paragraph to a page and builds again. */
  edit(page: string, paragraph: string): Promise<SiteEdition>;
}

export async function buildDocsSite(folder: string): Promise<DocsSite> {
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
  return {
    first: await build(folder),
    edit: async (page, paragraph) => {
      await appendFile(join(folder, page), `\n${paragraph}\n`);
      return build(folder);
    },
  };
}

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
  const edition = new Map<string, SiteFile>();
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

/** What a visitor opens: all but the page for unknown addresses, and what the pages load. */
export const pagesOf = (edition: SiteEdition): SiteEdition =>
  new Map([...edition].filter(([path]) => path.endsWith('.html') && path !== '/404.html'));
