// The claims of SECURITY.md and the tests that hold them. `node test/support/claims.ts` prints each claim with its file
// and the names of its tests, and ends with 1 where a claim has no file, or its file is gone or holds no test.
// A test whose name is made of values is printed as it is written.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Claim {
  readonly claim: string;
  /** As SECURITY.md has it. */
  readonly heldBy: string;
  /** Of the file that it names; none where there is no such file. */
  readonly tests: readonly string[];
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
      const path = /^`(test\/[\w./-]+\.test\.ts)`$/.exec(heldBy)?.[1];
      return { claim, heldBy, tests: path === undefined ? [] : testNames(join(root, path)) };
    });
}

function testNames(file: string): readonly string[] {
  if (!existsSync(file)) return [];
  const calls = readFileSync(file, 'utf8').matchAll(
    /^\s*(?:await |void )?test\(\s*(?:(?<quote>['"`])(?<name>(?:\\.|(?!\k<quote>).)*)\k<quote>|(?<value>\w+))/gm,
  );
  return [...calls].map(({ groups }) => groups?.['name'] ?? `(${groups?.['value']})`);
}

if (import.meta.main) {
  const claims = readClaims(join(import.meta.dirname, '../..'));
  for (const { claim, heldBy, tests } of claims) {
    process.stdout.write(`${claim}\n  ${heldBy}\n${tests.map((name) => `    - ${name}\n`).join('')}`);
  }
  const open = claims.filter(({ tests }) => tests.length === 0);
  process.stdout.write(`${claims.length} claims, ${open.length} without a test\n`);
  for (const { claim, heldBy } of open) process.stderr.write(`no test: ${claim} (${heldBy})\n`);
  if (open.length > 0 || claims.length === 0) process.exitCode = 1;
}
