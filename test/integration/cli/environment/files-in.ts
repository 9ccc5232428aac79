// The files of a folder in which a program may work.

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

export interface FoundFile {
  /** Relative to the folder. */
  readonly name: string;
  readonly text: string;
  readonly mode: number;
}

const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT';

const mostAttempts = 1000;

/**
 * Every file whose name is not one of `except`. A program renames files between the list and the reads: then all is listed
 * and read again, so that no file is left out.
 */
export function filesIn(folder: string, except: readonly string[]): readonly FoundFile[] {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return readdirSync(folder, { recursive: true, encoding: 'utf8' }).flatMap((name) => {
        const path = join(folder, name);
        if (except.includes(name)) return [];
        const stats = statSync(path);
        if (!stats.isFile()) return [];
        return [{ name, text: readFileSync(path, 'latin1'), mode: stats.mode & 0o777 }];
      });
    } catch (error) {
      if (!isMissing(error) || attempt === mostAttempts) throw error;
    }
  }
}
