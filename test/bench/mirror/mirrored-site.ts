// The made site as a mirror has it, and the bytes of its layer as an archive of their own: a server that starts from one
// or the other reads the same content in the same form.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { defaultLimits } from '#bundle/limits.ts';
import { findImage } from '#mirror/mirrored-content.ts';
import { type MirrorAccess, openCarrier } from '#mirror/open-carrier.ts';
import type { MirrorCopyTask, SentPlace } from '#mirror/task/mirror-task.ts';
import { runMirrorTask } from '#mirror/task/run-mirror-task.ts';
import { systemClock } from '#platform/runtime/clock.ts';

export interface MirroredSite {
  readonly ref: string;
  readonly digest: string;
  readonly layerBytes: number;
  readonly layerDigest: string;
}

const never = new AbortController().signal;
const proxy = { httpProxy: undefined, httpsProxy: undefined, noProxy: undefined };

/** Of a mirror on loopback. */
export const openAccess: MirrorAccess = {
  ...{ secret: undefined, endpoint: undefined, region: 'us-east-1', pathStyle: true },
  ...{ allowPrivateAddresses: true, isHttpAllowed: true, extraCaPem: undefined, userAgent: 'bench' },
};

/** @param folder for files of the work, which stay */
export async function mirrorSite(
  archive: string,
  { address, access }: Pick<SentPlace, 'address' | 'access'>,
  folder: string,
): Promise<MirroredSite> {
  mkdirSync(folder, { recursive: true });
  const owner = { namespace: 'bench', name: 'site', uid: 'bench' };
  const task: MirrorCopyTask = {
    ...{ task: 'copy-to-mirror', compression: 'Zstd', versionStamp: '20260131-120000', transform: undefined },
    place: { address, access, usesIdentity: false, owner, isExclusive: false },
    prepare: {
      ...{
        task: 'prepare',
        link: pathToFileURL(archive).href,
        allowFileLinks: true,
        allowPrivateLinks: true,
      },
      ...{ storeDir: undefined, keepsHiddenFiles: true, wantsFiles: false, workDir: join(folder, 'work') },
      ...{ limits: defaultLimits, expectedDigest: undefined, extraCaPem: undefined, userAgent: 'bench' },
    },
  };
  const addSearch = (): Promise<never> => Promise.reject(new TypeError('no search here'));
  const reports = { report: async () => {}, onProgress: () => {} };
  const context = { clock: systemClock, proxy, identity: undefined, addSearch, ...reports };
  const answer = await runMirrorTask(task, context);
  if (!('copy' in answer)) throw new Error('the task copied nothing');
  const { copy, inspected } = answer;
  if (copy.kind === 'failed') throw new Error(copy.failure.message);
  const { ref } = copy;
  return { ref, digest: inspected.digest, ...(await saveLayer(address, access, inspected.digest, folder)) };
}

/** The path of the layer's bytes. */
export const layerFile = (folder: string): string => join(folder, 'layer.tar.zst');

async function saveLayer(
  address: string,
  access: MirrorAccess,
  digest: string,
  folder: string,
): Promise<Pick<MirroredSite, 'layerBytes' | 'layerDigest'>> {
  const carrier = await openCarrier(address, access, { clock: systemClock, proxy, identity: undefined });
  try {
    const image = await findImage(carrier, digest, digest, never);
    if (image === undefined) throw new Error('the copy is not there');
    const bytes = Buffer.concat(await Array.fromAsync(carrier.readBlob(image.layer, never)));
    writeFileSync(layerFile(folder), bytes);
    return { layerBytes: bytes.length, layerDigest: image.layer.digest };
  } finally {
    await carrier.close();
  }
}
