// The whole check of a kit before anything else is done with it: signature first, then every byte. Owns its progress.
// Refuses to return a kit that differs from what was signed.

import { checkContents, type KitHead, type KitSource, readKitHead } from '#mirror/kit/kit-reader.ts';
import type { VerifyKey } from '#mirror/kit/minisign.ts';
import type { CliContext } from '../context.ts';
import { sizeWords } from '../output/amounts.ts';

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
