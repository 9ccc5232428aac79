// Names in a store folder. `bundles/<digest>/{pack,index}` is committed. `damaged-<digest>` is a copy that proved damaged
// when there was no other. `current` lists the activated bundles, and `current.copy` is read where `current` is missing or
// damaged. A name that starts with a dot is being written or removed, and may be deleted while no process works on it.

import { join } from 'node:path';

export const digestPattern = /^[0-9a-f]{64}$/;

/** Made by a preparation, renamed to a bundle when it is whole. */
export const incomingPrefix = '.incoming-';
/** Renamed away from `bundles` before its files go, so that no half of a bundle is ever found there. */
export const outgoingPrefix = '.outgoing-';
/** A copy that proved damaged. A start without any other bundle serves its intact files. */
export const damagedPrefix = 'damaged-';
/** The next `current`, until it is renamed. */
export const nextCurrentName = '.current-next';

export const bundlesFolder = (storeDir: string): string => join(storeDir, 'bundles');
export const bundleFolder = (storeDir: string, digest: string): string => join(storeDir, 'bundles', digest);
export const damagedFolder = (storeDir: string, digest: string): string =>
  join(storeDir, `${damagedPrefix}${digest}`);
/** The list of activated bundles, and its copy. */
export const activationFiles = (storeDir: string): readonly [string, string] => [
  join(storeDir, 'current'),
  join(storeDir, 'current.copy'),
];

export const packName = 'pack';
export const indexName = 'index';
