// The docs site that the demo exports: real pages of other projects (the Markdown in the packages of undici and pino)
// and the project's own READMEs, built with VitePress. The demo's docs team publishes by editing a page and building
// again.

import { execFile } from 'node:child_process';
import { appendFile, cp, glob, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';

const project = join(import.meta.dirname, '../..');
const packages = join(project, 'node_modules');

export interface DocsSite {
  /** The built site; replaced as a whole by every build. */
  readonly dist: string;
  /** Appends a paragraph to a page and builds again. */
  edit(page: string, paragraph: string): Promise<void>;
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
  const dist = join(folder, 'dist');
  await build(folder, dist);
  return {
    dist,
    edit: async (page, paragraph) => {
      await appendFile(join(folder, page), `\n${paragraph}\n`);
      await build(folder, dist);
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

/** Builds in a second folder and swaps it with the served one, so that the origin never shows half a site. */
async function build(folder: string, dist: string): Promise<void> {
  const draft = join(folder, 'dist-next');
  await rm(draft, { recursive: true, force: true });
  const vitepress = join(packages, 'vitepress/bin/vitepress.js');
  try {
    await promisify(execFile)(process.execPath, [vitepress, 'build'], {
      cwd: folder,
      env: { ...process.env, SITE_OUT_DIR: relative(folder, draft) },
      maxBuffer: 16 * 1024 * 1024,
    });
  } catch (error) {
    const text = error instanceof Error && 'stderr' in error ? String(error.stderr) : '';
    throw new Error(`the docs site did not build:\n${text.slice(-2000)}`, { cause: error });
  }
  await rm(join(folder, 'dist-old'), { recursive: true, force: true });
  await rename(dist, join(folder, 'dist-old')).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
  await rename(draft, dist);
}
