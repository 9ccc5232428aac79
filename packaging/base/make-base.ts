// The command that the Dockerfile runs: makes the root file system of the image.
//
//   node packaging/base/make-base.ts FOLDER PLATFORM [MIRROR]     linux/amd64 or linux/arm64

import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { z } from 'zod';
import { endWithMessage } from '../release/tool.ts';
import { platforms } from './base-lock.ts';
import { makeBaseRoot } from './base-root.ts';

const [folder = '', platform, mirror] = process.argv.slice(2);
await endWithMessage(async () => {
  const known = z.enum(platforms).safeParse(platform);
  if (!known.success) throw new Error(`There is no base for ${platform}. Choose ${platforms.join(' or ')}.`);
  const to = resolve(folder);
  await mkdir(to, { recursive: true });
  await makeBaseRoot({
    platform: known.data,
    to,
    mirror: mirror || undefined,
    place: { cwd: resolve(import.meta.dirname, '../..'), env: { ...process.env, LC_ALL: 'C' } },
  });
});
