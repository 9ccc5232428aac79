// What a copied asset loads itself, and the asset with these addresses replaced. Pure. Reads style sheets, and the imports of
// scripts. Refuses to guess what a script puts together at run time. Invariant: what is no such address keeps its bytes.

import { applyEdits, inOrder } from '#platform/html/source-edits.ts';
import { type BodyKind, readableBytes } from '#site/references/body-links.ts';
import { readCssPositions } from '#site/references/css-references.ts';
import { externalHref } from '#site/references/external.ts';
import { readModuleImports } from '#site/references/module-imports.ts';
import type { AddressPosition } from '#site/references/reference.ts';
import { escapedFragment } from '../rewrite/chosen-names.ts';

export interface AssetSource {
  readonly role: BodyKind;
  /** One character for each byte. */
  readonly source: string;
  /** What its addresses are relative to. */
  readonly url: URL;
}

/** Whether a copied asset is read for what it loads. A longer one is copied as it is. */
export function hasOwnLoads(role: BodyKind, sizeBytes: number): boolean {
  return (role === 'style' || role === 'script') && sizeBytes <= readableBytes(role);
}

/** @returns the addresses that the asset loads, each once, in their order */
export function readAssetLoads(asset: AssetSource): readonly string[] {
  return [...new Set(positionsIn(asset).map(({ href }) => href))];
}

/**
 * An address without a copy is written out: relative to the asset it would lead into the bundle.
 *
 * @param pathOf the path of a copy in the bundle
 */
export function editAsset(asset: AssetSource, pathOf: (href: string) => string | undefined): string {
  const edits = positionsIn(asset).map(({ href, text, at, to }) => {
    const path = pathOf(href);
    const address = path === undefined ? plainHref(href) : `./${path.replace(/^.*\//, '')}`;
    return {
      at,
      drop: to - at,
      insert: `${address}${escapedFragment(Buffer.from(text, 'latin1').toString())}`,
    };
  });
  return applyEdits(asset.source, edits.sort(inOrder));
}

/** Without what ends an address in a style sheet or a script. */
const plainHref = (href: string): string =>
  href.replace(/['()]/g, (mark) => `%${mark.charCodeAt(0).toString(16)}`);

interface LoadPosition extends Required<Pick<AddressPosition, 'text' | 'at' | 'to'>> {
  readonly href: string;
}

function positionsIn({ role, source, url }: AssetSource): readonly LoadPosition[] {
  const positions = role === 'style' ? readCssPositions(source) : readModuleImports(source);
  return positions.flatMap(({ text, at, to }) => {
    // `url(#gradient)` is of the page.
    if (to === undefined || text.trim().startsWith('#')) return [];
    const href = externalHref(Buffer.from(text, 'latin1').toString(), url);
    return href === undefined ? [] : [{ href, text, at, to }];
  });
}
