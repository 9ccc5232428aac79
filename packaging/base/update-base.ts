// Pins the newest packages of Debian's stable release, its security archive included.
//
//   npm run release:base [-- --debian-mirror URL]     writes packaging/base/base-lock.json, and says what changed

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { endWithMessage, releaseEnvironment, runTool } from '../release/tool.ts';
import { aptFor } from './apt.ts';
import { basePackages, type Platform, readBaseLock } from './base-lock.ts';
import { changesOfLock, readOffers } from './base-offers.ts';
import { findOwnMirror } from './base-root.ts';

const release = { suite: 'trixie', distribution: 'debian-13' };
const lockFile = join(import.meta.dirname, 'base-lock.json');
const place = {
  cwd: resolve(import.meta.dirname, '../..'),
  env: releaseEnvironment(process.env, 0),
};

const usage = `Usage: npm run release:base [-- --debian-mirror URL]

Pins the newest packages of Debian in packaging/base/base-lock.json, and prints what changed.
`;

await endWithMessage(async () => {
  const options = { 'debian-mirror': { type: 'string' }, help: { type: 'boolean' } } as const;
  const { values } = parseArgs({ options });
  if (values.help === true) {
    process.stdout.write(usage);
    return;
  }
  const scratch = await mkdtemp(join(tmpdir(), 'static-export-lock-'));
  try {
    const mirror = values['debian-mirror'] ?? (await findOwnMirror(place));
    const ask = (platform: Platform): Promise<string> => askApt(platform, scratch, mirror);
    const lock = readOffers(
      { ...release, day: new Date().toISOString().slice(0, 10) },
      { 'linux/amd64': await ask('linux/amd64'), 'linux/arm64': await ask('linux/arm64') },
    );
    const before = await readFile(lockFile, 'utf8')
      .then(readBaseLock)
      .catch(() => undefined);
    const changes = changesOfLock(before, lock);
    if (changes !== undefined) await writeFile(lockFile, `${JSON.stringify(lock, undefined, 2)}\n`);
    process.stdout.write(changes ?? 'Debian has nothing newer.\n');
  } finally {
    await rm(scratch, { recursive: true });
  }
});

/** What apt prints of the packages. */
async function askApt(platform: Platform, folder: string, mirror: string): Promise<string> {
  const apt = await aptFor(platform, { folder, mirror, suite: release.suite, place });
  return runTool([...apt, 'download', '--print-uris', ...basePackages], place);
}
