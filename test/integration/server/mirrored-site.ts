// A site's copy in a mirror, and what a server needs to read it. Owns the logins.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ArchivedFile } from '#bundle/archive/archive-writer.ts';
import { defaultLimits } from '#bundle/limits.ts';
import { copyBundle } from '#mirror/copy.ts';
import type { BundleImage, Compression } from '#mirror/image.ts';
import { type MirrorAccess, openCarrier } from '#mirror/open-carrier.ts';
import { systemClock } from '#platform/runtime/clock.ts';
import { type SiteContent, siteDigest } from './archive.ts';
import type { ServedSite } from './served-site.ts';

/** Logins of the registry. */
export const users = { docs: 'pass-word-of-docs' };
const proxy = { httpProxy: undefined, httpsProxy: undefined, noProxy: undefined };
const never = new AbortController().signal;

const access: MirrorAccess = {
  secret: undefined,
  endpoint: undefined,
  region: 'us-east-1',
  pathStyle: true,
  allowPrivateAddresses: true,
  isHttpAllowed: true,
  extraCaPem: undefined,
  userAgent: 'test',
};

/** What the copy to the registry logs in with. */
export const registrySecret = {
  name: 'docs-mirror',
  data: { username: Buffer.from('docs'), password: Buffer.from(users.docs) },
};

export interface Copied {
  readonly digest: string;
  readonly image: BundleImage;
}

/** Copies a site as the operator does. */
export async function copySite(
  address: string,
  change: Partial<MirrorAccess>,
  content: SiteContent,
  compression: Compression = 'Zstd',
): Promise<Copied> {
  const workDir = await mkdtemp(join(tmpdir(), 'mirror-copy-'));
  const carrier = await openCarrier(
    address,
    { ...access, ...change },
    { clock: systemClock, proxy, identity: undefined },
  );
  try {
    const digest = siteDigest(content);
    const files: readonly ArchivedFile[] = Object.entries(content).map(([path, body]) => {
      const bytes = Buffer.from(body);
      return { path, size: bytes.length, read: () => [bytes] };
    });
    const options = { compression, workDir, limits: defaultLimits };
    return { digest, image: await copyBundle({ digest, version: 'v1', files }, carrier, options, never) };
  } finally {
    await carrier.close();
    await rm(workDir, { recursive: true, force: true });
  }
}

/** Writes the Secret that a server reads with `--mirror-credentials`. @returns its folder */
export async function mountSecret(
  served: ServedSite,
  texts: Readonly<Record<string, string>>,
): Promise<string> {
  const folder = join(served.folder, 'mirror');
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder);
  for (const [name, text] of Object.entries(texts)) await writeFile(join(folder, name), text);
  return folder;
}

/** Lets a server read a mirror on loopback. */
export const reach = ['--allow-private-mirror', '--allow-http-mirror'];
