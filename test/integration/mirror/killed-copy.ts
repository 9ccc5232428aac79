// One copy of a bundle to a mirror, for the test that kills it and for the child that is killed. Run as a program, it copies
// and ends with 0: killed-copy.ts ADDRESS ENDPOINT WORK_FOLDER

import { createHash } from 'node:crypto';
import process from 'node:process';
import { defaultLimits } from '#bundle/limits.ts';
import type { Carrier } from '#mirror/carrier.ts';
import { copyBundle } from '#mirror/copy.ts';
import type { BundleImage } from '#mirror/image.ts';
import { openCarrier } from '#mirror/open-carrier.ts';
import { systemClock } from '#platform/runtime/clock.ts';
import { archivedFiles, memoryBundle } from '../../support/memory-bundle.ts';

/** The key of the S3 service that tests start. */
export const accessKey = { accessKeyId: 'versitygw-root', secretAccessKey: 'versitygw-root-secret' };

/** Bytes that no compression makes fewer, so that a layer crosses the network in several pieces. */
function incompressible(bytes: number): Buffer {
  const blocks: Buffer[] = [];
  for (let at = 0; at * 32 < bytes; at += 1) blocks.push(createHash('sha256').update(`${at}`).digest());
  return Buffer.concat(blocks, bytes);
}

const site = memoryBundle({
  'index.html': '<h1>home</h1>',
  'guides/start.html': '<h1>start</h1>',
  'assets/photo.jpg': incompressible(400_000),
});
export const copiedDigest = site.index.digest;

/** @param endpoint of an S3 service; `undefined` for a registry */
export function openMirror(address: string, endpoint: string | undefined): Promise<Carrier> {
  const data = Object.fromEntries(Object.entries(accessKey).map(([key, text]) => [key, Buffer.from(text)]));
  const access = {
    secret: endpoint === undefined ? undefined : { name: 'mirror', data },
    endpoint,
    region: 'us-east-1',
    pathStyle: true,
    allowPrivateAddresses: true,
    isHttpAllowed: true,
    extraCaPem: undefined,
    userAgent: 'test',
  };
  const proxy = { httpProxy: undefined, httpsProxy: undefined, noProxy: undefined };
  return openCarrier(address, access, { clock: systemClock, proxy, identity: undefined });
}

export function copySite(carrier: Carrier, workDir: string): Promise<BundleImage> {
  const bundle = { digest: copiedDigest, version: 'v1', files: archivedFiles(site) };
  const options = { compression: 'Zstd', workDir, limits: defaultLimits } as const;
  return copyBundle(bundle, carrier, options, new AbortController().signal);
}

if (import.meta.main) {
  const [address = '', endpoint = '', workDir = ''] = process.argv.slice(2);
  const carrier = await openMirror(address, endpoint === '' ? undefined : endpoint);
  await copySite(carrier, workDir);
  await carrier.close();
}
