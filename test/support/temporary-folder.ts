// The folder of a test, or of a test file: it is there at once, and removed when the test or the file ends.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, type SuiteContext, type TestContext } from 'node:test';

/** @param owner the test whose folder it is; without one, the suite or the file that calls this */
export function temporaryFolder(owner?: TestContext | SuiteContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'static-export-test-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  if (owner !== undefined && 'after' in owner) owner.after(remove);
  else after(remove);
  return folder;
}
