// `kit verify`: whether a kit is what the owner of a key signed, to its last byte. A difference is a refusal with its own
// exit code, because the next step of a pipeline must not run. Owns the whole check, which other commands do first:
// signature, then every byte.

import { checkContents, type KitHead, type KitSource, readKitHead } from '#mirror/kit/kit-reader.ts';
import type { VerifyKey } from '#mirror/kit/minisign.ts';
import type { CliContext } from '../context.ts';
import { sizeWords } from '../output/amounts.ts';
import { marked } from '../output/paint.ts';
import { markedLine } from '../output/screen.ts';
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

/**
 * @param key `undefined`: for a kit of the user's own, which is only read
 * @throws {KitError} {CliError}; the signal's reason
 */
export async function checkKit(
  source: KitSource,
  key: VerifyKey | undefined,
  { progress, signal }: Pick<CliContext, 'progress' | 'signal'>,
): Promise<KitHead> {
  progress.phase('Checking the kit');
  const head = await readKitHead(source, key);
  const total = head.frame.size;
  const onProgress = (checked: number): void =>
    progress.advance((100 * checked) / total, `${sizeWords(checked)} of ${sizeWords(total)}`);
  await checkContents(source, head, onProgress, signal);
  progress.end();
  return head;
}
