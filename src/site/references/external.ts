// What a body names on other hosts, and the one spelling of such an address. Pure. Refuses user names, passwords and
// fragments in it. Invariant: an address without a scheme is one of https, because the public site is.

import { readImportMap } from './import-map.ts';
import { readModuleImports } from './module-imports.ts';
import type { LoadUse, Reference } from './reference.ts';

export type ExternalKind =
  | 'load' // a page loads it: without it, the page is not what it was
  | 'untried' // which part of it a page loads is not known
  | 'embedded' // a frame, a video or a sound: it stays a link
  | 'connection'; // a browser prepares it, and loads nothing of it for this page

export interface ExternalReference {
  readonly kind: ExternalKind;
  /** Host and path, never a query: may be published. */
  readonly name: string;
  /** As {@link externalHref} writes it. */
  readonly href: string;
}

/** What each load is where another host has it: the one definition for the crawler and for the check of an archive. */
export const externalKinds = {
  script: 'load',
  style: 'load',
  font: 'load',
  picture: 'load',
  manifest: 'load',
  preload: 'load',
  modules: 'untried',
  media: 'embedded',
  video: 'embedded',
  frame: 'embedded',
  prefetch: 'connection',
  connection: 'connection',
} as const satisfies Readonly<Record<LoadUse, ExternalKind>>;

/**
 * Modules of other hosts that a script imports, or that an import map names. Those of the site are hints, like all that its
 * scripts name: a bundler writes the names of some that it never loads.
 *
 * @param script text of a script or of an import map
 */
export function* readExternalModules(script: string): Generator<Reference> {
  const { modules, folders } = readImportMap(script);
  const hasHost = (text: string): boolean => /^(?:https?:)?\/\//i.test(text);
  const imported = readModuleImports(script).map(({ text }) => text);
  for (const text of [...imported, ...modules])
    if (hasHost(text)) yield { text, use: 'asset', load: 'script' };
  for (const text of folders) if (hasHost(text)) yield { text, use: 'hint', load: 'modules' };
}

/** @returns `undefined` for what is not an address with a host. Its query may be secret */
export function externalHref(text: string, base: URL): string | undefined {
  const trimmed = text.trim();
  const url = URL.parse(/^[/\\]{2}/.test(trimmed) ? `https:${trimmed}` : trimmed, base.href);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) return undefined;
  url.hash = '';
  url.username = '';
  url.password = '';
  return url.href;
}
