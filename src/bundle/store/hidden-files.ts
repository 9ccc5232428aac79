// Which files of a bundle are not served. These are dotfiles (except `.well-known`, RFC 8615), configuration files of other
// hosts, files that an export adds for starting it by double click, its own documents, and what file managers and archivers leave
// behind. Refuses to interpret any of them. A hidden file reads as absent, and its bytes are not in the pack (pack.ts); its row stays
// in the index, so the digest names the whole archive. A server shows those that --serve-dotfiles names.

import { composedForm } from '#platform/wire/unicode-form.ts';
import { isExportDocument } from '../export-documents.ts';

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
const starters: ReadonlySet<string> = new Set(['serve.js', 'serve.cjs', 'serve.mjs']);

/** What macOS, Windows, a NAS and `git archive` add, in lower case; dotfiles are hidden without it. */
const clutterNames: ReadonlySet<string> = new Set([
  '__macosx',
  'desktop.ini',
  'thumbs.db',
  'ehthumbs.db',
  '$recycle.bin',
  'system volume information',
  '@eadir',
  'pax_global_header',
]);
const clutterDotfile = /^\.(?:_.*|ds_store|git|hg|svn|spotlight-v100|fseventsd|trashes|appledouble)$/i;

/**
 * @param path of a file in the bundle, no leading slash
 * @param serveDotfiles names that are shown nevertheless: of a folder or file, with or without `.html`; composed form
 */
export function isHiddenFile(path: string, serveDotfiles: readonly string[] = []): boolean {
  if (isExportDocument(path)) return true;
  const hiding = hidingNames(path);
  return hiding.length > 0 && !hiding.every((name) => isServed(name, serveDotfiles));
}

/** Added by a file manager, an archiver or a version control system. No page of the site is in it. */
export function isClutter(path: string): boolean {
  return path.split('/').some((name) => isClutterName(name) || clutterDotfile.test(name));
}

/** Whether it starts an exported site by double click: the script that it starts lies next to it. */
export function isStarter(path: string, rootFiles: ReadonlySet<string>): boolean {
  return starters.has(path) || (isLauncher(path) && [...starters].some((name) => rootFiles.has(name)));
}

/** A script that Windows or a desktop runs, at the root of the bundle. */
export function isLauncher(path: string): boolean {
  return !path.includes('/') && launcher.test(path);
}

/** Whether packs of earlier versions have no byte of it. Their indexes do not say so. */
export function hadNoBytes(path: string): boolean {
  return hidingNames(path).some((name) => !isClutterName(name));
}

/** Texts that may name a hidden file in an address: true too often rather than too seldom, and fast, because it reads pages. */
export function mayNameHidden(text: string): boolean {
  return hiddenHint.test(text);
}

const controlNames = [...controlFiles].map((name) => name.replaceAll('.', String.raw`\.`)).join('|');
const hiddenHint = new RegExp(
  String.raw`[/"'=](?:\.[^./"'<>\s]|${controlNames})|\.(?:bat|cmd|command|desktop|lnk|vbs|BAT|CMD)["'?#\s>]`,
);

/** The segments because of which a path is hidden. */
function hidingNames(path: string): readonly string[] {
  const segments = path.split('/');
  const isAtRoot = segments.length === 1;
  return segments.filter(
    (name, at) =>
      (name.startsWith('.') && !(at === 0 && name === '.well-known')) ||
      isClutterName(name) ||
      (isAtRoot && (controlFiles.has(name) || launcher.test(name))),
  );
}

function isClutterName(name: string): boolean {
  return clutterNames.has(name.toLowerCase());
}

function isServed(name: string, serveDotfiles: readonly string[]): boolean {
  const composed = composedForm(name);
  return serveDotfiles.some((one) => one === composed || `${one}.html` === composed);
}
