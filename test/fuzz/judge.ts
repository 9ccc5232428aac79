// Reads one mutant and returns what is wrong with the result, if anything. Right is a rejection with a known code, or
// only files of the archive, the same for any division of the bytes.

import { oddAnswerCodes, refusalCodes } from '#bundle/refusal.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { type ReadResult, readBytes } from '../support/read-archive.ts';
import type { Sample } from './corpus.ts';
import type { Mutant } from './mutation.ts';

const mib = 1024 * 1024;
/** Tight, so that a mutant that claims to be large is rejected at once. */
export const limits = {
  maxTotalBytes: 24 * mib,
  maxFileBytes: 4 * mib,
  maxFiles: 500,
  maxRatio: 100,
  maxFrames: 40,
};

export type Outcome =
  | { readonly kind: 'read' }
  | { readonly kind: 'rejected'; readonly code: string }
  | { readonly kind: 'wrong'; readonly what: string };

/** @param pieceBytes the size of the pieces in which the bytes arrive */
export async function judge(sample: Sample, mutant: Mutant, pieceBytes: number): Promise<Outcome> {
  let result: ReadResult;
  try {
    result = await readBytes(mutant.bytes, { pieceBytes, limits });
  } catch (error) {
    if (!(error instanceof PublishableError)) return wrong(`threw ${String(error)}`);
    const codes = error.kind === 'refused' ? refusalCodes : oddAnswerCodes;
    const isOurs = codes.includes(error.code);
    const { wanted } = mutant;
    if (wanted !== undefined && wanted !== 'refusal') return wrong(`rejected what is right: ${error.code}`);
    return isOurs ? { kind: 'rejected', code: error.code } : wrong(`threw ${error.kind} ${error.code}`);
  }
  if (mutant.wanted === 'refusal') return wrong('read what is to be rejected');
  const foreign = foreignFile(sample, mutant, result);
  return foreign === undefined ? { kind: 'read' } : wrong(foreign);
}

const wrong = (what: string): Outcome => ({ kind: 'wrong', what });

function foreignFile(sample: Sample, mutant: Mutant, { contents }: ReadResult): string | undefined {
  const read = Object.entries(contents);
  for (const [path] of read) {
    if (
      path.startsWith('/') ||
      path.includes('\\') ||
      path.split('/').some((one) => ['', '.', '..'].includes(one))
    ) {
      return `a path that escapes: ${JSON.stringify(path)}`;
    }
  }
  const packed = mutant.wanted === 'refusal' ? undefined : mutant.wanted;
  if (mutant.isChecked || packed !== undefined) {
    const expected = packed ?? sample.contents;
    const names = Object.keys(expected).sort().join('\n');
    if (
      names !==
      read
        .map(([path]) => path)
        .sort()
        .join('\n')
    )
      return 'other names than were packed';
    const other = read.find(([path, text]) => expected[path] !== text);
    return other === undefined ? undefined : `other bytes in ${other[0]}`;
  }
  if (mutant.plain === undefined) return undefined;
  const tar = mutant.plain.toString('latin1');
  for (const [path, text] of read) {
    const last = Buffer.from(path.slice(path.lastIndexOf('/') + 1)).toString('latin1');
    if (!tar.includes(last)) return `a name that is not in the archive: ${JSON.stringify(path)}`;
    if (!tar.includes(text)) return `bytes that are not in the archive: ${JSON.stringify(path)}`;
  }
  return undefined;
}
