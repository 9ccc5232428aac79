// What the pages of one crawl share: one object for each link, and where the addresses lead that many pages write, because a site's
// navigation is on every page of it. Refuses to remember an address that means another thing on another page. Invariant: what is
// remembered is what resolving gives, and its memory has a bound.

import { type Address, addressKey, type Located, locate, type SiteScope } from '../site-scope.ts';
import type { ReferenceUse } from './reference.ts';

export interface BodyLink {
  readonly address: Address;
  readonly use: ReferenceUse;
  readonly isSitemap: boolean;
}

export interface LinkPool {
  /** The one object of such a link. */
  linkTo(address: Address, use: ReferenceUse, isSitemap: boolean): BodyLink;
  /** As {@link locate}. */
  locate(text: string, base: URL): Located;
}

/** The navigation of a large site has some thousand links. */
const mostRemembered = 4096;
const maxTextLength = 256;
/** The rest of an address follows from it and from the host of its base alone. A tab or a line end may hide a second slash. */
const isRooted = (text: string): boolean => /^(?:\/(?![/\\\t\r\n])|https?:\/\/)/.test(text);

const linksByUse = (): Readonly<Record<ReferenceUse, Map<string, BodyLink>>> => ({
  page: new Map(),
  asset: new Map(),
  trial: new Map(),
  hint: new Map(),
});

export function createLinkPool(scope: SiteScope): LinkPool {
  const links = linksByUse();
  const sitemaps = linksByUse();
  const remembered = new Map<string, Located>();
  return {
    linkTo: (address, use, isSitemap) => {
      const ofUse = (isSitemap ? sitemaps : links)[use];
      const key = addressKey(address);
      const known = ofUse.get(key);
      if (known !== undefined) return known;
      const link = { address, use, isSitemap };
      ofUse.set(key, link);
      return link;
    },
    locate: (text, base) => {
      if (text.length > maxTextLength || !isRooted(text) || base.origin !== scope.originHost) {
        return locate(scope, text, base);
      }
      const known = remembered.get(text);
      if (known !== undefined) return known;
      const located = locate(scope, text, base);
      if (remembered.size >= mostRemembered) remembered.clear();
      remembered.set(text, located);
      return located;
    },
  };
}
