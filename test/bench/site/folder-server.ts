// Files of a folder over HTTP, compressed as a site's server sends them, for benchmarks in a browser. Counts what it sends. Refuses
// paths outside of the folder.

import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join, normalize } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import { contentTypeOf } from '#bundle/content-type.ts';

export interface FolderServer {
  readonly url: URL;
  /** Since the last call: bodies that were sent. */
  takeCounts(): { readonly files: number; readonly bytes: number };
  close(): Promise<void>;
}

export async function serveFolder(folder: string): Promise<FolderServer> {
  const bodies = new Map<string, Buffer>();
  let counts = { files: 0, bytes: 0 };
  const bodyOf = (path: string): Buffer => {
    const known = bodies.get(path);
    if (known !== undefined) return known;
    const plain = readFileSync(path);
    const made = brotliCompressSync(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } });
    bodies.set(path, made);
    return made;
  };
  const server = createServer(({ url = '/' }, response) => {
    const name = normalize(decodeURIComponent(url.replace(/[?#].*$/, '')));
    const path = join(folder, name.endsWith('/') ? `${name}index.html` : name);
    if (!path.startsWith(folder) || !existsSync(path)) {
      response.writeHead(404).end();
      return;
    }
    const body = bodyOf(path);
    counts = { files: counts.files + 1, bytes: counts.bytes + body.length };
    response.writeHead(200, { 'content-type': contentTypeOf(path), 'content-encoding': 'br' }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('no port');
  return {
    url: new URL(`http://127.0.0.1:${address.port}/`),
    takeCounts: () => {
      const taken = counts;
      counts = { files: 0, bytes: 0 };
      return taken;
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
