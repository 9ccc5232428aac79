// Which files of a bundle are never served and have no bytes in a store. These are dotfiles (except `.well-known`, RFC
// 8615), configuration files of other hosts, and files that an export adds for starting it by double click. Refuses to
// interpret any of them. A hidden file reads as absent. A file that is hidden once stays hidden, because a pack holds no
// byte of it (pack.ts); its row stays in the index, so the digest names the whole archive.

import type { BundleFile } from '../bundle-index.ts';

/** At the root of a bundle only: deeper down these are content (a page may document them). */
const controlFiles: ReadonlySet<string> = new Set([
  '_headers',
  '_redirects',
  '_routes.json',
  '_worker.js',
  'firebase.json',
  'netlify.toml',
  'now.json',
  'serve.js',
  'serve.cjs',
  'serve.mjs',
  'serve.json',
  'staticwebapp.config.json',
  'vercel.json',
]);
/** Not `.sh` and `.ps1`: documentation sites publish `install.sh` on purpose. */
const launcher = /\.(?:bat|cmd|command|desktop|lnk|vbs)$/i;

/** @param path of a file in the bundle, no leading slash */
export function isHiddenFile(path: string): boolean {
  const segments = path.split('/');
  const visible = segments[0] === '.well-known' ? segments.slice(1) : segments;
  if (visible.some((segment) => segment.startsWith('.'))) return true;
  return segments.length === 1 && (controlFiles.has(path) || launcher.test(path));
}

/** The files whose bytes are in the pack. */
export function shownFiles(files: readonly BundleFile[]): readonly BundleFile[] {
  return files.filter(({ path }) => !isHiddenFile(path));
}
