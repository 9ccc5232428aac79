// The pages of an archive, listed without the project's code. The server is compared with them when the origin is an
// external site.

import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract } from 'tar-stream';

export async function listArchivedPages(link: URL): Promise<readonly string[]> {
  const response = await fetch(link);
  if (!response.ok || response.body === null) throw new Error(`the archive answers ${response.status}`);
  const pages: string[] = [];
  const entries = extract();
  const read = pipeline(Readable.fromWeb(response.body), createGunzip(), entries);
  for await (const entry of entries) {
    if (
      entry.header.type === 'file' &&
      entry.header.name.endsWith('.html') &&
      entry.header.name !== '404.html'
    ) {
      pages.push(`/${entry.header.name.split('/').map(encodeURIComponent).join('/')}`);
    }
    entry.resume();
  }
  await read;
  return pages.sort();
}
