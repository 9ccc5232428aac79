// Archives and documents for tests, made in memory.

import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { createGzip } from 'node:zlib';
import { pack } from 'tar-stream';

export type SiteContent = Readonly<Record<string, string | Buffer>>;

/** A `.tar.gz` of these files. */
export function makeArchive(content: SiteContent): Promise<Buffer> {
  const tar = pack();
  for (const [name, body] of Object.entries(content)) tar.entry({ name, mtime: new Date(0) }, body);
  tar.finalize();
  return buffer(tar.pipe(createGzip()));
}

/** A page that names its version, and an asset whose name belongs to that version alone. */
export function makeSite(version: string, pages = 30): SiteContent {
  const asset = `assets/app.BxYz12_${version}.js`;
  const page = (name: string): string =>
    `<!doctype html><title>${name}</title><script src="/${asset}"></script><p>version ${version}</p>\n`;
  return {
    'index.html': page('home'),
    '404.html': page('not found'),
    [asset]: `console.log(${JSON.stringify(version)});\n`,
    ...Object.fromEntries(
      Array.from({ length: pages }, (_, at) => [`guides/page-${at}.html`, page(`page ${at}`)]),
    ),
  };
}

/** Computed here from the content, and not taken from the code under test. */
export function siteDigest(content: SiteContent): string {
  const whole = createHash('sha256');
  for (const path of Object.keys(content).sort()) {
    whole.update(`${sha256(content[path] ?? '')}  ${path}\n`);
  }
  return whole.digest('hex');
}

export interface DocumentFacts {
  readonly version: string;
  readonly link: string;
  readonly digest?: string | undefined;
  readonly jobId?: string;
  /** Address of the copy in a mirror. */
  readonly ref?: string | undefined;
  readonly basePath?: string;
}

/** `bundle.json` as the operator writes it. Its times are long past: the server must not judge by them. */
export function bundleDocument({
  version,
  link,
  digest,
  jobId = `job-${version}`,
  ref,
  basePath,
}: DocumentFacts): string {
  return JSON.stringify({
    version,
    digest,
    ref,
    basePath,
    jobId,
    bundleUrl: link,
    issuedAt: '2020-01-01T00:00:00Z',
    expiresAt: '2020-01-01T00:15:00Z',
  });
}

export const sha256 = (body: Buffer | string): string => createHash('sha256').update(body).digest('hex');
