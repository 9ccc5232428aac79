// What one body of a site loads, for the check of archives, by the readers that the crawler has. Chooses the reader for its kind.
// Refuses what scripts load otherwise than by an import. Pure; never throws.

import type { BodyKind } from '#site/references/body-links.ts';
import { readCssReferences } from '#site/references/css-references.ts';
import { readExternalModules } from '#site/references/external.ts';
import { readHtmlReferences } from '#site/references/html-references.ts';
import { readManifestReferences } from '#site/references/manifest-references.ts';
import { addReferences, type LoadUse, type Reference } from '#site/references/reference.ts';

/** The text is as a browser reads it, before it is resolved. */
export interface Load extends Reference {
  readonly load: LoadUse;
}

export interface BodyLoads {
  /** Of the first `<base href>`. */
  readonly base?: string | undefined;
  /** How many of the loads come before it: they are relative to the document's own address. */
  readonly baseAt: number;
  readonly loads: readonly Load[];
  /** Not read to its end: a tag that no browser would take. */
  readonly isPartial: boolean;
}

/** @param text decoded, as much of it as is read */
export function readLoads(kind: BodyKind, text: string): BodyLoads {
  switch (kind) {
    case 'document':
    case 'picture':
      return loadsOfHtml(text);
    case 'style':
      return loadsOf(readCssReferences(text));
    case 'script':
      return loadsOf(readExternalModules(text));
    case 'manifest':
      return loadsOf(readManifestReferences(text));
    default:
      return loadsOf([]);
  }
}

function loadsOfHtml(text: string): BodyLoads {
  const { base, baseAt, references, inlineScripts, isPartial } = readHtmlReferences(text);
  const before = references.slice(0, baseAt).filter(isLoad);
  const loads = [...before, ...references.slice(baseAt).filter(isLoad)];
  for (const script of inlineScripts) addReferences(loads, readExternalModules(script).filter(isLoad));
  return { base, baseAt: before.length, loads, isPartial };
}

const loadsOf = (references: Iterable<Reference>): BodyLoads => ({
  baseAt: 0,
  loads: [...references].filter(isLoad),
  isPartial: false,
});

const isLoad = (reference: Reference): reference is Load => reference.load !== undefined;
