// Sites of documentation generators, built as files: exported, the origin stopped, and the archive visited in a real Chromium that
// has no network. Every page, its pictures, a click, and the search are as they were at the origin.

import { after, before, test } from 'node:test';
import { noBrowser } from '../../support/browser.ts';
import { requireHere } from '../requirement.ts';
import { compareWithOrigin, fileCorpora } from './corpora.ts';
import { type SealedBrowser, startSealedBrowser } from './visit.ts';

requireHere(noBrowser);
let sealed: SealedBrowser | undefined;
before(async () => {
  sealed = await startSealedBrowser();
});
after(() => sealed?.close());

for (const corpus of fileCorpora) {
  test(`${corpus.name}: the archive shows what its origin shows, without a network`, {
    timeout: 10 * 60_000,
  }, async () => {
    if (sealed !== undefined) await compareWithOrigin(corpus, sealed);
  });
}
