// Content types by extension: what documentation sites hold, and nothing guessed. Text is UTF-8 by
// definition here, unless its bytes say otherwise (`declared-charset`). Everything is sent with `nosniff`, so an unknown type is a download and never a page.

import type { BundleFile } from './bundle-index.ts';

const byExtension: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'text/html; charset=utf-8': 'html htm',
    'application/xhtml+xml; charset=utf-8': 'xhtml',
    'text/css; charset=utf-8': 'css',
    'text/javascript; charset=utf-8': 'js mjs cjs',
    'application/json; charset=utf-8': 'json map topojson',
    'application/ld+json; charset=utf-8': 'jsonld',
    'application/geo+json; charset=utf-8': 'geojson',
    'application/x-ndjson; charset=utf-8': 'ndjson jsonl',
    'application/schema+json; charset=utf-8': 'schema',
    'application/manifest+json; charset=utf-8': 'webmanifest',
    // React Server Component payloads (`page.txt`) are asked for as text/plain and by nothing else.
    'text/plain; charset=utf-8':
      'txt text log rst adoc conf ini toml env sh bash ps1 py rb go rs java c h ts tsx diff',
    'text/markdown; charset=utf-8': 'md markdown mdx',
    'text/csv; charset=utf-8': 'csv',
    'text/tab-separated-values; charset=utf-8': 'tsv',
    'text/vtt; charset=utf-8': 'vtt',
    'text/calendar; charset=utf-8': 'ics',
    'application/yaml; charset=utf-8': 'yaml yml',
    'application/xml; charset=utf-8': 'xml xsl xsd',
    'application/rss+xml; charset=utf-8': 'rss',
    'application/atom+xml; charset=utf-8': 'atom',
    'application/opensearchdescription+xml; charset=utf-8': 'osdx',
    'image/svg+xml; charset=utf-8': 'svg',
    'image/png': 'png',
    'image/apng': 'apng',
    'image/jpeg': 'jpg jpeg jfif',
    'image/gif': 'gif',
    'image/webp': 'webp',
    'image/avif': 'avif',
    'image/bmp': 'bmp',
    'image/tiff': 'tif tiff',
    'image/vnd.microsoft.icon': 'ico',
    'font/woff2': 'woff2',
    'font/woff': 'woff',
    'font/ttf': 'ttf',
    'font/otf': 'otf',
    'application/vnd.ms-fontobject': 'eot',
    'video/mp4': 'mp4 m4v',
    'video/webm': 'webm',
    'video/ogg': 'ogv',
    'video/quicktime': 'mov',
    'audio/mpeg': 'mp3',
    'audio/mp4': 'm4a',
    'audio/ogg': 'ogg oga opus',
    'audio/wav': 'wav',
    'audio/webm': 'weba',
    'application/wasm': 'wasm',
    'application/pdf': 'pdf',
    'application/epub+zip': 'epub',
    'application/zip': 'zip',
    'application/gzip': 'gz tgz',
    'application/zstd': 'zst',
    'application/x-tar': 'tar',
    'application/x-bzip2': 'bz2',
    'application/x-xz': 'xz',
    'application/java-archive': 'jar',
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
    'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
    'application/vnd.openxmlformats-officedocument.presentationml.presentation': 'pptx',
  }).flatMap(([type, extensions]) => extensions.split(' ').map((extension) => [extension, type] as const)),
);
/** Files without an extension whose type is fixed by who asks for them. */
const byName: ReadonlyMap<string, string> = new Map([
  ['apple-app-site-association', 'application/json; charset=utf-8'],
  ['openid-configuration', 'application/json; charset=utf-8'],
  ['LICENSE', 'text/plain; charset=utf-8'],
]);
const unknownType = 'application/octet-stream';

/** The `Content-Type` of a file, by its name alone. Always safe to put in a header. */
export function contentTypeOf(path: string): string {
  return contentTypeByName(path) ?? unknownType;
}

/** The same; `undefined` for a name that says nothing. */
export function contentTypeByName(path: string): string | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const dot = name.lastIndexOf('.');
  return dot < 0 ? byName.get(name) : byExtension.get(name.slice(dot + 1).toLowerCase());
}

/** Text, whose bytes need an encoding. */
const ofText =
  /^(?:text\/|image\/svg\+xml$|application\/(?:.*\+)?(?:json|xml|x-ndjson|(?:x-)?yaml|(?:x-)?(?:java|ecma)script)$)/;

/** Whether files of this type, without parameters, are text. */
export function isTextType(media: string): boolean {
  return ofText.test(media);
}

/**
 * The `Content-Type` of a file of a bundle: the type that its export kept, else the one of its name. A kept type of a text that
 * names no charset is handled as one of a name.
 */
export function contentTypeOfFile({
  path,
  type,
  isData,
}: Pick<BundleFile, 'path' | 'type' | 'isData'>): string {
  // As text/html a browser would run what a text of the JSON holds.
  if (isData) return 'application/json';
  if (type === undefined) return contentTypeOf(path);
  return !type.includes(';') && isTextType(type) ? `${type}; charset=utf-8` : type;
}

/** True for what a browser opens as a document. */
export function isDocument(path: string): boolean {
  return /\.x?html?$/i.test(path);
}
