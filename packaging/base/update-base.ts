// Pins the newest packages of Debian's stable release, its security archive included.
//
//   npm run release:base [-- --debian-mirror URL]     writes packaging/base/base-lock.json, and says what changed

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { releaseEnvironment, runTool } from '../release/tool.ts';
import { aptFor } from './apt.ts';
import { basePackages, type Platform, readBaseLock } from './base-lock.ts';
import { changesOfLock, readOffers } from './base-offers.ts';
import { findOwnMirror } from './base-root.ts';

const suite = 'trixie';
const lockFile = join(import.meta.dirname, 'base-lock.json');
const place = {
  cwd: resolve(import.meta.dirname, '../..'),
  env: releaseEnvironment(process.env, 0),
};

const { values } = parseArgs({ options: { 'debian-mirror': { type: 'string' } } });
const mirror = values['debian-mirror'] ?? (await findOwnMirror(place));
const scratch = await mkdtemp(join(tmpdir(), 'static-export-lock-'));
try {
  const [amd64, arm64] = [await askApt('linux/amd64'), await askApt('linux/arm64')];
  const lock = readOffers(suite, { 'linux/amd64': amd64, 'linux/arm64': arm64 });
  const before = await readFile(lockFile, 'utf8').then(readBaseLock, () => undefined);
  await writeFile(lockFile, `${JSON.stringify(lock, undefined, 2)}\n`);
  process.stdout.write(changesOfLock(before, lock));
} finally {
  await rm(scratch, { recursive: true });
}

/** What apt prints of the packages. */
async function askApt(platform: Platform): Promise<string> {
  const apt = await aptFor(platform, { folder: scratch, mirror, suite, place });
  return runTool([...apt, 'download', '--print-uris', ...basePackages], place);
}
