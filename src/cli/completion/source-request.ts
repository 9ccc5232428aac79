// What a source of names gets, and what a user typed of it. Pure.
// Refuses: the names themselves.

import { join } from 'node:path';
import type { Clock } from '#platform/runtime/clock.ts';

type Env = Readonly<Record<string, string | undefined>>;

export interface SourceRequest {
  /** The value of a flag, from the words before, its variable or a profile; by its key, such as `kubeconfig`. */
  readonly given: (flag: string) => string | undefined;
  /** The arguments before. */
  readonly args: readonly string[];
  readonly clock: Clock;
  readonly env: Env;
  /** Aborts when the shell has waited long enough. */
  readonly signal: AbortSignal;
}

/** A shell expands `~/` only when it runs a command, and not when it asks for candidates. */
export function homePath(path: string | undefined, { HOME }: Env): string | undefined {
  return path?.startsWith('~/') && HOME !== undefined ? join(HOME, path.slice(2)) : path;
}
