// An image as `docker save` writes it, taken apart: its configuration, and what its own layers put on top of the base.

import { createHash } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { mustRun } from '../support/command.ts';

const manifestShape = z.tuple([z.object({ Config: z.string(), Layers: z.array(z.string()) })]);
const configShape = z.object({
  architecture: z.string(),
  config: z.object({
    User: z.string(),
    Entrypoint: z.array(z.string()),
    Env: z.array(z.string()),
    Labels: z.record(z.string(), z.string()),
  }),
});

export interface UnpackedImage extends z.infer<typeof configShape> {
  /** Holds the files of every layer but the base's. */
  readonly root: string;
}

/** @param folder does not exist; it is deleted with its parent */
export async function unpackImage(archive: string, folder: string): Promise<UnpackedImage> {
  const root = join(folder, 'root');
  await mkdir(root, { recursive: true });
  await mustRun(['tar', '-xf', archive, '-C', folder]);
  const readJson = async (name: string): Promise<unknown> =>
    JSON.parse(await readFile(join(folder, name), 'utf8'));
  const [{ Config, Layers }] = manifestShape.parse(await readJson('manifest.json'));
  const [, ...own] = Layers;
  for (const layer of own) await mustRun(['tar', '-xf', join(folder, layer), '-C', root]);
  return { ...configShape.parse(await readJson(Config)), root };
}

export async function hashOf(file: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(file))
    .digest('hex');
}
