// The names of files that the crawler chose: by their bytes, so that a name never stands for two contents, and with the ending
// of their type, because servers go by names. Pure. Invariant: the same bytes have the same name.

import { hash } from 'node:crypto';

/** Where these files lie. */
const chosenFolder = '_v/';

/** @param sha256 of the bytes, lower-case hex. @param path whose ending counts where the type shows none */
export function chosenPath(sha256: string, contentType: string, path: string): string {
  return `${chosenFolder}${sha256.slice(0, 16)}.${extensionOf(contentType, path)}`;
}

/** For a file that another host does not have: a path without a file, so that no browser asks that host. */
export function absentPath(href: string): string {
  return chosenPath(hash('sha256', href, 'hex'), '', new URL(href).pathname);
}

/** As long as before, where that is possible: a query that a server of files does not read. */
export function padded(path: string, length: number): string {
  return path.length < length ? `${path}?`.padEnd(length, '_') : path;
}

/**
 * Which glyph, or which part of a picture, as it may stand in a page, a style sheet or a script: a site's readers may have
 * written the address, so no character of it ends an attribute or a text.
 *
 * @param text an address, as a browser reads it
 */
export function escapedFragment(text: string): string {
  const fragment = /#(.*)$/s.exec(text.trim())?.[1] ?? '';
  if (fragment === '') return '';
  const escaped = fragment
    .toWellFormed()
    .replace(/[^\w.:~/=,%-]/gu, (mark) =>
      [...Buffer.from(mark)].map((byte) => `%${byte.toString(16).padStart(2, '0').toUpperCase()}`).join(''),
    );
  return `#${escaped}`;
}

/** By media type, as a server that goes by names needs it. */
const extensions: Readonly<Record<string, string>> = {
  'application/javascript': 'js',
  'application/json': 'json',
  'application/pdf': 'pdf',
  'font/otf': 'otf',
  'font/ttf': 'ttf',
  'font/woff': 'woff',
  'font/woff2': 'woff2',
  'image/avif': 'avif',
  'image/gif': 'gif',
  'image/jpeg': 'jpg',
  'image/png': 'png',
  'image/svg+xml': 'svg',
  'image/webp': 'webp',
  'image/x-icon': 'ico',
  'text/css': 'css',
  'text/javascript': 'js',
};

/** Further ones of files that pages load. None is that of a page: another host chose the bytes. */
const assetExtensions: ReadonlySet<string> = new Set([
  ...Object.values(extensions),
  ...'mjs map wasm eot cur bmp jxl txt csv mp3 mp4 m4a ogg opus wav webm vtt webmanifest glb gltf'.split(' '),
]);

function extensionOf(contentType: string, path: string): string {
  const type = contentType.split(';')[0]?.trim().toLowerCase() ?? '';
  const written = /\.([a-z0-9]{1,11})$/i.exec(path)?.[1]?.toLowerCase() ?? '';
  return extensions[type] ?? (assetExtensions.has(written) ? written : 'bin');
}
