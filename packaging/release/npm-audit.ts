// Asks npm's registry for advisories, with npm itself: the same registry, proxy and credentials as for its packages. Refuses
// to take an audit that did not happen, or was of a part of the packages, for one without findings.

import { type Audit, npmReason, readAudit } from './audit.ts';
import { runTool, type ToolPlace } from './tool.ts';

const command = [
  // Without this level, it would fail where it finds an advisory.
  ...['npm', 'audit', '--json', '--audit-level=none'],
  // Offline, it would find nothing and succeed. Packages for development can be in the programs.
  ...['--no-offline', '--include=prod', '--include=dev', '--include=optional', '--include=peer'],
];

/**
 * @param parts names of the packages in the programs
 * @param place a folder with package-lock.json
 */
export async function askNpm(parts: ReadonlySet<string>, place: ToolPlace): Promise<Audit> {
  let report: string;
  try {
    report = await runTool(command, place);
  } catch (error) {
    return { why: npmReason(error instanceof Error ? error.message : '') };
  }
  return readAudit(jsonOf(report), parts);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
