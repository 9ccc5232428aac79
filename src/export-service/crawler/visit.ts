// One address of a crawl: why it is wanted, and what its request gave. Owns no rule; the frontier changes it, and others read
// it. Invariant: its uses only grow.

import type { BodyLinks } from '#site/references/body-links.ts';
import type { Address } from '#site/site-scope.ts';
import type { NoSuchPageAnswer } from './not-found-pages.ts';
import type { OriginBody } from './origin/origin-types.ts';

export type FetchOutcome =
  | (OriginBody & {
      readonly kind: 'stored';
      readonly links: BodyLinks;
      /** As the origin said. */
      readonly contentType: string;
      /** Of an address that cannot exist. */
      readonly noSuchPage?: NoSuchPageAnswer;
    })
  /** `to` is undefined where it leads off the site. */
  | { readonly kind: 'redirect'; readonly to: Address | undefined; readonly fragment: string }
  | { readonly kind: 'absent'; readonly reason: string };

/** One address. Its uses only grow: a hint may become a page, but a page never becomes a hint. */
export interface Visit {
  readonly address: Address;
  isPage: boolean;
  isAsset: boolean;
  isSitemap: boolean;
  /** A page that may be missing. */
  isTrial: boolean;
  /** Links from the home page. */
  readonly depth: number;
  /** Redirects that led here without a link of its own. */
  readonly hops: number;
  /** Path of the first body that asked for it as strongly as it is wanted; a sitemap or a guess is none. */
  askedBy: string | undefined;
  outcome: FetchOutcome | undefined;
  /** Set once its file and links are in the export. */
  isTaken: boolean;
}
