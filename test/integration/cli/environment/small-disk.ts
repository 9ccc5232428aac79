// A disk of its own for a test, of a size that the test chooses and changes. Root ignores the modes of files, so that only
// a mount shows a full or a read-only folder. Refuses to outlast the test.

import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';

export interface SmallDisk {
  readonly path: string;
  /** Mount options, such as `size=8m` or `ro`. */
  remount(options: string): void;
}

/** @param path of the folder, which is made. @param size as tmpfs reads it: `64k` */
export async function withDisk(
  path: string,
  size: string,
  work: (disk: SmallDisk) => Promise<void>,
): Promise<void> {
  mkdirSync(path);
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', path]);
  try {
    const remount = (options: string): void => void execFileSync('mount', ['-o', `remount,${options}`, path]);
    await work({ path, remount });
  } finally {
    execFileSync('umount', ['--lazy', path]);
  }
}
