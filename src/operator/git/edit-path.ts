// Which paths and names an edit may have. Pure. Refuses what leads outside the repository, into git's own folder, or
// what no plain checkout can hold. Messages do not quote the path.

import { keyNames } from '#operator/targets/target-plan.ts';
import { isPrintable } from '#platform/wire/printable-text.ts';
import type { GitEdit, GitRefusalCode } from './push-task.ts';

export interface PathRefusal {
  readonly code: GitRefusalCode;
  readonly message: string;
}

const longestPath = 1024;
const mostNames = 8;

/** @returns why the edit cannot be made, whatever the repository holds; `undefined` where it may be */
export function refuseEdit({ path, keyPath, wanted }: GitEdit): PathRefusal | undefined {
  const segments = path.split('/');
  const isOdd = (segment: string): boolean =>
    segment === '' || segment === '.' || segment === '..' || /^(\.git|git~1)$/i.test(segment);
  if (segments.some(isOdd)) {
    return {
      code: 'PathOutsideRepository',
      message: 'The path leads outside the repository; write it relative to its root, without `..`.',
    };
  }
  if (path.length > longestPath || !isPrintable(path) || path.includes('\\')) {
    return { code: 'InvalidEdit', message: 'The path is too long or has hidden characters; correct it.' };
  }
  if (keyPath.length === 0 || keyPath.length > mostNames || keyPath.some((name) => !isName(name))) {
    return {
      code: 'InvalidEdit',
      message: `The key path needs 1 to ${mostNames} names of visible characters.`,
    };
  }
  if (keyNames.every((name) => wanted[name] === undefined)) {
    return { code: 'InvalidEdit', message: 'The edit has no version, digest or ref to write; set one.' };
  }
  return undefined;
}

const isName = (name: string): boolean =>
  name !== '' && name !== '<<' && name.length <= 253 && isPrintable(name);

/** As `git check-ref-format --branch`, for names that are not revisions. */
export function isBranchName(branch: string): boolean {
  const isOdd = (part: string): boolean => part === '' || part.startsWith('.') || part.endsWith('.lock');
  return (
    branch.length <= 250 &&
    !branch.startsWith('-') &&
    !branch.endsWith('.') &&
    branch !== '@' &&
    branch !== 'HEAD' &&
    !/[\s~^:?*[\\]|\.\.|@\{/.test(branch) &&
    isPrintable(branch) &&
    !branch.split('/').some(isOdd)
  );
}
