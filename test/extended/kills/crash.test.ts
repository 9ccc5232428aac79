// kill -9 of a real process: at every file operation between an archive and its being the current bundle, and of the
// whole program at moments spread over a swap and over the storing of a large bundle.

import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { killStores, killSwaps, type Moment } from '../../integration/server/killed-program.ts';
import { killCommits, killMadeFiles, killVariants } from '../../integration/server/killed-steps.ts';

/** Some of them come while what matters happens, on a slow machine and on a quick one. */
const later =
  (ms: number): Moment =>
  () =>
    sleep(ms);

test('killed before, amid or after any step of a commit: the old bundle or the new one, and a clean start', () =>
  killCommits(Number.POSITIVE_INFINITY));

test('killed at any step of making precompressed variants: the bundle is whole, and the next start has correct variants', () =>
  killVariants(Number.POSITIVE_INFINITY));

test('killed at any step of making a search: the bundle is whole, and the next start has the whole search', () =>
  killMadeFiles(Number.POSITIVE_INFINITY));

test('the program killed while it stores what it serves leaves no half copy that is served', () =>
  killStores([0, 5, 10, 20, 40, 80, 160].map(later)));

test('the program killed at any moment of a swap serves one whole version after its next start', () =>
  killSwaps([30, 90, 150].map(later)));
