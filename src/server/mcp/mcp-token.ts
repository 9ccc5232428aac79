// The token that agents must send, from a file of a mounted Secret. Reads it again while the server runs, so that a new one needs no
// restart; several lines are several tokens, so that old and new are valid together. Refuses short ones. Invariant: no token leaves this
// file, and how long a comparison takes says nothing of where two texts differ.

import { createHash, timingSafeEqual } from 'node:crypto';
import { readBounded } from '#platform/runtime/bounded-file.ts';
import type { Clock } from '#platform/runtime/clock.ts';
import { PublishableError, publishableCode } from '#platform/wire/publishable-error.ts';

export interface TokenCheck {
  /** @param field value of `Authorization`. Never rejects */
  isValid(field: string | undefined): Promise<boolean>;
}

const mostFileBytes = 16 * 1024;
const mostTokens = 10;
const readAgainMs = 5_000;
const withdrawnCode = 'McpTokenMissing';

/**
 * A file that is gone or empty withdraws all tokens. One that is damaged, or cannot be read for a moment, withdraws none.
 *
 * @param report receives an unusable file's error, once until the file is usable again, and whether the former tokens stay valid
 * @throws {PublishableError} at the start, where no earlier token is known
 */
export async function openTokenFile(
  file: string,
  clock: Pick<Clock, 'monotonic'>,
  report: (fault: unknown, areTokensKept: boolean) => void,
): Promise<TokenCheck> {
  let hashes = await readTokenHashes(file);
  let readAt = clock.monotonic();
  let reported: string | undefined;
  const readAgain = async (): Promise<void> => {
    const now = clock.monotonic();
    if (now - readAt < readAgainMs) return;
    readAt = now;
    try {
      hashes = await readTokenHashes(file);
      reported = undefined;
    } catch (error) {
      const code = publishableCode(error);
      const isWithdrawn = code === withdrawnCode;
      if (isWithdrawn) hashes = [];
      if (code !== reported) report(error, !isWithdrawn);
      reported = code;
    }
  };
  return {
    isValid: async (field) => {
      await readAgain();
      const [, token] = /^Bearer +([\x21-\x7e]{1,4096})$/i.exec(field ?? '') ?? [];
      const sent = hashOf(token ?? '');
      // All of them, so that the time says nothing of which one it was.
      return hashes.filter((hash) => timingSafeEqual(hash, sent)).length > 0 && token !== undefined;
    },
  };
}

async function readTokenHashes(file: string): Promise<readonly Buffer[]> {
  const text = await readBounded(file, mostFileBytes).catch((cause: unknown) => {
    const code = publishableCode(cause);
    const message = `--mcp-token-file cannot be read (${code}); check its path and permissions`;
    throw new PublishableError(code === 'ENOENT' ? withdrawnCode : 'McpTokenUnreadable', message, { cause });
  });
  const tokens = (text ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  if (tokens.length === 0 || tokens.length > mostTokens || !tokens.every(isToken)) {
    const rule = `1 to ${mostTokens} lines, each of 16 to 4096 ASCII characters without a blank`;
    const code = text !== undefined && tokens.length === 0 ? withdrawnCode : 'McpTokenInvalid';
    throw new PublishableError(code, `--mcp-token-file must hold ${rule}; write a random token`);
  }
  return tokens.map(hashOf);
}

const isToken = (text: string): boolean => /^[\x21-\x7e]{16,4096}$/.test(text);
const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest();
