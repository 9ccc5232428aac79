// kill -9 of a real process at chosen moments between an archive and its being the current bundle. Whatever is left: the old
// bundle or the new one, whole, and a clean start. Every moment is in test/extended/kills.

import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { activationFiles } from '#bundle/store/store-layout.ts';
import { eventually } from '../../support/eventually.ts';
import { killStores, killSwaps, type Moment } from './killed-program.ts';
import { killCommits, killMadeFiles, killVariants } from './killed-steps.ts';

const often = { everyMs: 1 };

const atOnce: Moment = async () => {};
const whenItIsInPlace: Moment = ({ served }) =>
  eventually(
    'the bundle is in its place',
    async () => (await readdir(join(served.store, 'bundles')))[0],
    often,
  );
const whenItIsCurrent: Moment = ({ served }) =>
  eventually('it is current', () => existsSync(activationFiles(served.store)[0]) || undefined, often);
const whenTheLinkIsAsked: Moment = ({ links, asked }) =>
  eventually('the link is asked', () => links.requests() > asked || undefined, often);
const whenItIsServed: Moment = ({ served, version }) =>
  served.until(`${version} is served`, ({ active }) => active?.version === version, often);

test('killed before, amid or after six steps of a commit: the old bundle or the new one, and a clean start', () =>
  killCommits(6));

test('killed at four steps of making precompressed variants: the bundle is whole, and the next start has correct variants', () =>
  killVariants(4));

test('killed at four steps of making a search: the bundle is whole, and the next start has the whole search', () =>
  killMadeFiles(4));

test('the program killed while it stores what it serves leaves no half copy that is served', () =>
  killStores([atOnce, whenItIsInPlace, whenItIsCurrent]));

test('the program killed amid a swap serves one whole version after its next start', () =>
  killSwaps([whenTheLinkIsAsked, whenItIsServed]));
