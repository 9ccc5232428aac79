// Sites of Next.js from 13 to 16 and of Nextra, whose servers run while they are exported: then the server stops, and the archive is
// visited in a real Chromium that has no network. Pictures of the optimizer and clicks are as they were at the origin.

import { after, before, test } from 'node:test';
import { noBrowser } from '../../support/browser.ts';
import { requireHere } from '../requirement.ts';
import { compareWithOrigin, serverCorpora } from './corpora.ts';
import { type SealedBrowser, startSealedBrowser } from './visit.ts';

requireHere(noBrowser);
let sealed: SealedBrowser | undefined;
before(async () => {
  sealed = await startSealedBrowser();
});
after(() => sealed?.close());

for (const corpus of serverCorpora) {
  test(`${corpus.name}: the archive shows what its origin shows, without a network`, {
    timeout: 10 * 60_000,
  }, async () => {
    if (sealed !== undefined) await compareWithOrigin(corpus, sealed);
  });
}
