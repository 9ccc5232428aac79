// The claims of SECURITY.md and the test that holds each. `npm run claims` prints them, and ends with 1 where the file of
// a claim is gone or has no test of that name: what holds the claim now must be named. A value in a name is written `…`.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Claim {
  readonly claim: string;
  /** As SECURITY.md has it: a file and the name of a test. */
  readonly heldBy: string;
  /** Whether that file has a test of that name, which is not skipped. */
  readonly isHeld: boolean;
}

/** @returns the rows of SECURITY.md in the folder `root`, in their order */
export function readClaims(root: string): readonly Claim[] {
  const text = readFileSync(join(root, 'SECURITY.md'), 'utf8');
  const [, rows = ''] = text.split('## What is promised, and the test that holds it');
  return rows
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| claim |'))
    .map((line) => {
      const [, claim = '', heldBy = ''] = line.split('|').map((cell) => cell.trim());
      const [, path, name = ''] = /^`(test\/[\w./-]+\.test\.ts)`: (.+)$/.exec(heldBy) ?? [];
      return { claim, heldBy, isHeld: path !== undefined && testNames(join(root, path)).includes(name) };
    });
}

function testNames(file: string): readonly string[] {
  if (!existsSync(file)) return [];
  const calls = readFileSync(file, 'utf8').matchAll(
    /^\s*(?:await |void )?test\(\s*(?:(?<quote>['"`])(?<name>(?:\\.|(?!\k<quote>).)*)\k<quote>|(?<value>\w+))/gm,
  );
  return [...calls].map(({ groups }) =>
    (groups?.['name'] ?? '…').replaceAll(/\$\{[^}]*\}+/g, '…').replaceAll(/\\(['"`])/g, '$1'),
  );
}

if (import.meta.main) {
  const claims = readClaims(join(import.meta.dirname, '../..'));
  for (const { claim, heldBy } of claims) process.stdout.write(`${claim}\n  ${heldBy}\n`);
  const open = claims.filter(({ isHeld }) => !isHeld);
  process.stdout.write(`${claims.length} claims, ${open.length} without a test\n`);
  for (const { claim, heldBy } of open) process.stderr.write(`no test: ${claim} (${heldBy})\n`);
  if (open.length > 0 || claims.length === 0) process.exitCode = 1;
}
