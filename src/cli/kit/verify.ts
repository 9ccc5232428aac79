// `kit verify`: whether a kit is what the owner of a key signed, to its last byte. A difference is a refusal with its own
// exit code, because the next step of a pipeline must not run.

import type { CliContext } from '../context.ts';
import { marked } from '../output/paint.ts';
import { markedLine } from '../output/screen.ts';
import { checkKit } from './check-kit.ts';
import type { KitAnswer } from './documents.ts';
import { readVerifyKey, type VerifyKeyValues } from './keys.ts';
import { openKit } from './kit-file.ts';
import { kitFields, kitLines } from './summary.ts';

export async function verifyKit(
  values: VerifyKeyValues,
  paths: readonly string[],
  context: CliContext,
): Promise<KitAnswer<'KitVerdict'>> {
  const key = await readVerifyKey(values);
  const kit = await openKit(paths);
  try {
    const head = await checkKit(kit.source, key, context);
    return {
      outcome: 'done',
      kind: 'KitVerdict',
      fields: { valid: true, ...kitFields(head) },
      lines: [
        markedLine('The kit is ', marked('whole', 'good'), ', and its signature is valid.'),
        ...kitLines(head),
      ],
    };
  } finally {
    await kit.close();
  }
}
