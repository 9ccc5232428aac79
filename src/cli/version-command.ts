// `version`: which program this is, for a person and for a pipeline. Refuses: asking a cluster, which `doctor` does; the
// answer needs no configuration.

import { nodeVersion, version } from '#platform/runtime/version.ts';
import { programName } from './command.ts';
import type { ProgramAnswer } from './program-documents.ts';

export async function showVersion(): Promise<ProgramAnswer<'ProgramVersion'>> {
  return {
    outcome: 'done',
    kind: 'ProgramVersion',
    fields: { version, node: nodeVersion },
    lines: [`${programName} ${version}`],
  };
}
