// `bundle verify`: whether an archive is whole, and has the digest that the user named. An archive that is not whole is
// the answer no, not a failure of the command. What visitors will miss of a whole archive is a warning.

import { PublishableError } from '#platform/wire/publishable-error.ts';
import type { CliContext } from '../context.ts';
import { marked } from '../output/paint.ts';
import { type Block, markedLine, plainScreen, prose, renderBlocks } from '../output/screen.ts';
import type { ArchiveAnswer } from './documents.ts';
import { contentLines, contentWarnings, summaryFields, warningLines } from './inspect.ts';
import { readIndex, type SizeLimits } from './reading.ts';

interface VerifyValues extends SizeLimits {
  readonly digest: string | undefined;
}

export async function verifyBundle(
  values: VerifyValues,
  [path = '']: readonly string[],
  context: CliContext,
): Promise<ArchiveAnswer<'ArchiveVerdict'>> {
  try {
    const index = await readIndex(path, values, context);
    const { digest: wanted = index.digest } = values;
    const fields = summaryFields(index);
    if (wanted === index.digest) {
      const lines = [
        markedLine('The archive is ', marked('whole', 'good'), '.'),
        ...contentLines(index),
        ...warningLines(index),
      ];
      return {
        outcome: 'done',
        kind: 'ArchiveVerdict',
        fields: { valid: true, ...fields, notes: index.notes },
        lines,
        findings: contentWarnings(index),
      };
    }
    const message = `the archive is whole, but its digest is ${index.digest}`;
    return refused('DigestMismatch', message, fields, [
      'The archive is whole, but it does not have the digest that --digest names.',
      `Digest:  ${index.digest}`,
      `Wanted:  ${wanted}`,
    ]);
  } catch (error) {
    if (!(error instanceof PublishableError) || error.kind !== 'refused') throw error;
    const { code, message } = error;
    return refused(code, message, {}, [
      prose(['The archive is ', marked('rejected', 'bad'), `: ${message} (${code})`], '', '  '),
      prose(nextStep, '  '),
    ]);
  }
}

/** What is not whole was often cut off on its way. */
const nextStep = 'Download it again, and compare its size with that of the original.';

function refused(
  code: string,
  message: string,
  fields: Readonly<Record<string, unknown>>,
  lines: readonly Block[],
): ArchiveAnswer<'ArchiveVerdict'> {
  const [, ...rest] = renderBlocks(lines, plainScreen);
  return {
    outcome: 'no',
    kind: 'ArchiveVerdict',
    fields: { valid: false, ...fields, code, message },
    lines,
    findings: [{ level: 'error', code, lines: [message, ...rest.map((line) => line.trim())] }],
  };
}
