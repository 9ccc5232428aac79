// `kit inspect`: what a kit holds, by its list alone. Says that the signature is not checked, because no key is given.
// Refuses: reading any blob.

import { readKitHead } from '#mirror/kit/kit-reader.ts';
import { stepBlocks } from '../output/screen.ts';
import type { KitAnswer } from './documents.ts';
import { openKit } from './kit-file.ts';
import { kitFields, kitLines } from './summary.ts';

export async function inspectKit(
  _values: object,
  paths: readonly string[],
): Promise<KitAnswer<'KitSummary'>> {
  const kit = await openKit(paths);
  try {
    const head = await readKitHead(kit.source, undefined);
    return {
      outcome: 'done',
      kind: 'KitSummary',
      fields: { ...kitFields(head), signatureChecked: false },
      lines: [
        ...kitLines(head),
        '',
        'The signature is not checked. The command that checks it:',
        ...stepBlocks(['static-export kit verify KIT --key kit.pub']),
      ],
    };
  } finally {
    await kit.close();
  }
}
