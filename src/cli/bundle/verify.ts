// `bundle verify`: whether an archive is whole, and has the digest that the user named. An archive that is not whole is
// the answer no, not a failure of the command.

import { BundleError } from '../../bundle/bundle-error.ts';
import type { CliContext, CommandResult } from '../context.ts';
import { contentLines, summaryFields } from './inspect.ts';
import { readIndex, type SizeLimits } from './reading.ts';

interface VerifyValues extends SizeLimits {
  readonly digest: string | undefined;
}

export async function verifyBundle(
  values: VerifyValues,
  [path = '']: readonly string[],
  context: CliContext,
): Promise<CommandResult> {
  try {
    const index = await readIndex(path, values, context);
    const { digest: wanted = index.digest } = values;
    const found = summaryFields(index);
    if (wanted === index.digest)
      return verdict(true, found, ['The archive is whole.', ...contentLines(index)]);
    return verdict(
      false,
      {
        ...found,
        code: 'DigestMismatch',
        message: `the archive is whole, but its digest is ${index.digest}`,
      },
      [
        'The archive is whole, but it does not have the digest that --digest names.',
        `Digest:  ${index.digest}`,
        `Wanted:  ${wanted}`,
      ],
    );
  } catch (error) {
    if (!(error instanceof BundleError) || error.kind !== 'rejected') throw error;
    const { code, message } = error;
    return verdict(false, { code, message }, [`The archive is rejected: ${message} (${code})`]);
  }
}

function verdict(
  isValid: boolean,
  fields: Readonly<Record<string, unknown>>,
  lines: readonly string[],
): CommandResult {
  return {
    outcome: isValid ? 'done' : 'no',
    kind: 'ArchiveVerdict',
    fields: { valid: isValid, ...fields },
    lines,
  };
}
