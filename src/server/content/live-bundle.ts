// A bundle while it is served: its routes, its pack, what is added to it and its precompressed variants once they exist, and
// its readers.
// Invariant: the packs stay open until the bundle is retired and the last request in progress has released it.

import type { BundleIndex } from '#bundle/bundle-index.ts';
import { declarationBytes, namesCharset, typeOfText } from '#bundle/declared-charset.ts';
import type { StoredBundle } from '#bundle/store/stored-bundle.ts';
import type { ContentEncoding } from '../http/content-encoding.ts';
import type { Additions, ExtensionCounts, MadeFeature } from './additions.ts';
import type { MarkdownTwins } from './markdown-twins.ts';
import { buildRouteTable, type FileRoute, type RouteTable } from './route-table.ts';
import type { Variant, VariantTable } from './variant-table.ts';

/** A bundle with the additions of this server. */
export interface Extension {
  readonly routes: RouteTable;
  /** Of the bundle's files too, where they were: what was found before is still read. */
  readonly pack: StoredBundle;
  readonly additions: Additions;
  /** What was made. */
  readonly features: readonly MadeFeature[];
  /** That the addresses in the lines of pages begin with. */
  readonly basePath: string;
  /** `undefined` where no Markdown was made. */
  readonly twins: MarkdownTwins | undefined;
  readonly counts: ExtensionCounts;
}

export interface LiveBundle {
  readonly digest: string;
  readonly stored: StoredBundle;
  /** Of what is served: the bundle, or its extension. */
  readonly routes: RouteTable;
  readonly index: BundleIndex;
  /** `undefined` while the bundle is served as it is. */
  readonly extension: () => Extension | undefined;
  /**
   * Serves these files from now on, `undefined`: the bundle as it is; without variants, because those are of other bytes. Takes
   * over the pack. A view of the site has to be made after it.
   */
  extend(extension: Extension | undefined): void;
  /** Resolves when the bundle is in the store; rejects when it could not be stored. */
  readonly committed: Promise<unknown>;
  /** Whether `committed` has resolved. */
  readonly isStored: () => boolean;
  /** `undefined` until precompressed variants are attached. */
  readonly variants: () => VariantTable | undefined;
  readonly findVariant: (route: FileRoute, encoding: ContentEncoding) => Variant | undefined;
  /** `undefined` until {@link readContentType} has read what the text says of its encoding. */
  readonly contentTypeOf: (route: FileRoute) => string | undefined;
  /** @throws as the disk does */
  readContentType(route: FileRoute): Promise<void>;
  /** Serves these variants from now on. Takes over `pack`. */
  attach(table: VariantTable, pack: StoredBundle): void;
  /** The pack that holds the precompressed bodies or the files. @throws when there are no precompressed bodies */
  readonly packOf: (variant: Variant | undefined) => StoredBundle;
  /** Every hold is followed by exactly one release. */
  hold(): void;
  release(): void;
  /** The disk no longer gives what was verified. @returns true the first time */
  reportUnreadable(): boolean;
  readonly isUnreadable: () => boolean;
  /** Closes the pack once it has no holder, and resolves then. Idempotent. */
  retire(): Promise<void>;
}

/**
 * Takes over the stored bundle: closing it is this one's business from here on.
 *
 * @param committed `undefined`: it is in the store
 */
export function goLive(
  stored: StoredBundle,
  routes = buildRouteTable(stored.index),
  committed?: Promise<unknown>,
): LiveBundle {
  let holders = 0;
  let isRetired = false;
  let isUnreadable = false;
  let isStored = committed === undefined;
  const noteStored = (): void => {
    isStored = true;
  };
  committed?.then(noteStored, () => {});
  let typesOfText = new Map<number, string>();
  const hold = (): void => {
    holders += 1;
  };
  const release = (): void => {
    holders -= 1;
    if (isRetired && holders === 0) letClose();
  };
  let variant: { readonly table: VariantTable; readonly pack: StoredBundle } | undefined;
  let extension: Extension | undefined;
  let pack = stored;
  /** Some were replaced, and a request may still read from them. */
  const packs = [stored];
  const { promise: idle, resolve: letClose } = Promise.withResolvers<void>();
  // A failing close leaves nothing that could be done better by failing somewhere else.
  const closed = idle
    .then(() => Promise.all(packs.map((one) => one.close())))
    .then(
      () => {},
      () => {},
    );
  return {
    digest: stored.index.digest,
    stored,
    get routes() {
      return extension?.routes ?? routes;
    },
    get index() {
      return pack.index;
    },
    extension: () => extension,
    extend: (next) => {
      const isTooLate = isRetired && holders === 0;
      if (isTooLate) {
        void next?.pack.close().catch(() => {});
        return;
      }
      if (next !== undefined) packs.push(next.pack);
      extension = next;
      pack = next?.pack ?? stored;
      typesOfText = new Map();
      variant = undefined;
    },
    committed: committed ?? Promise.resolve(),
    isStored: () => isStored,
    variants: () => variant?.table,
    findVariant: ({ ordinal }, encoding) => variant?.table.find(ordinal, encoding),
    contentTypeOf: ({ ordinal, contentType }) =>
      namesCharset(contentType) ? typesOfText.get(ordinal) : contentType,
    readContentType: async ({ ordinal, contentType, file }) => {
      const start = Buffer.alloc(Math.min(file.size, declarationBytes));
      // Those of the extension have other ordinals.
      const types = typesOfText;
      hold();
      try {
        // Of bytes that are not proven yet: the body is, before it is sent, and the check of a large bundle takes seconds.
        await pack.readStart(file, start);
      } finally {
        release();
      }
      types.set(ordinal, typeOfText(contentType, start));
    },
    attach: (table, bodies) => {
      const isTooLate = variant !== undefined || (isRetired && holders === 0);
      if (isTooLate) {
        void bodies.close().catch(() => {});
        return;
      }
      packs.push(bodies);
      variant = { table, pack: bodies };
    },
    packOf: (form) => {
      if (form === undefined) return pack;
      if (variant === undefined) throw new Error('a precompressed variant without a pack');
      return variant.pack;
    },
    hold,
    release,
    reportUnreadable: () => {
      const isFirst = !isUnreadable;
      isUnreadable = true;
      return isFirst;
    },
    isUnreadable: () => isUnreadable,
    retire: () => {
      isRetired = true;
      if (holders === 0) letClose();
      return closed;
    },
  };
}
