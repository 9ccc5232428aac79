// Asks npm's registry for advisories, with npm itself: the same registry, proxy and credentials as for its packages.

import { type Audit, readAudit } from './audit.ts';
import { runTool, type ToolPlace } from './tool.ts';

/**
 * @param parts names of the packages in the programs
 * @param place a folder with package-lock.json
 */
export async function askNpm(parts: ReadonlySet<string>, place: ToolPlace): Promise<Audit> {
  // Without this level, it would fail where it finds an advisory.
  const command = ['npm', 'audit', '--json', '--audit-level=none'];
  try {
    return readAudit(JSON.parse(await runTool(command, place)), parts);
  } catch {
    return { why: 'the registry of npm does not answer npm audit' };
  }
}
