// Brings every program that the chosen test files need, before the first of them starts: builds and downloads have no time
// limit of a test, and happen once. What cannot be brought is reported; the tests that need it say the same again.

import { resolve } from 'node:path';
import { filesLoadedBy } from './import-graph.ts';

export interface Preparation {
  readonly name: string;
  /** Resolves when the program is in the cache; at once where it is there. */
  readonly bring: () => Promise<unknown>;
}

const entry = (name: string, bring: Preparation['bring']): Preparation => ({ name, bring });

/** By the file, in `test`, that finds the program. A test file that loads it needs the program. */
export const preparations: Readonly<Record<string, Preparation>> = {
  'support/cluster-tools.ts': entry('kubectl and helm', async () =>
    (await import('./cluster-tools.ts')).findClusterTools(),
  ),
  'support/control-plane-binary.ts': entry('etcd and kube-apiserver', async () =>
    (await import('./control-plane-binary.ts')).findControlPlane(),
  ),
  'support/versitygw.ts': entry('versitygw', async () => (await import('./versitygw.ts')).findVersitygw()),
  'support/promtool.ts': entry('promtool', async () => (await import('./promtool.ts')).findPromtool()),
  'support/check-jsonschema.ts': entry('check-jsonschema', async () =>
    (await import('./check-jsonschema.ts')).findCheckJsonSchema(),
  ),
  'support/bill-validator.ts': entry('validators of bills of materials', async () =>
    (await import('./bill-validator.ts')).findBillValidator(),
  ),
  'support/next-export.ts': entry('a site by Next.js', async () =>
    (await import('./next-export.ts')).findNextExport(),
  ),
  'support/image/base-root.ts': entry('the base of the image', async () =>
    (await import('./image/base-root.ts')).findBaseRoots(),
  ),
  'support/node/name-server.ts': entry('the name server of nodes', async () =>
    (await import('./node/name-server.ts')).findNameServer(),
  ),
  'support/gitops/programs.ts': entry('the GitOps controllers', async () =>
    (await import('./gitops/programs.ts')).findGitOpsPrograms(),
  ),
  'support/gitops/definitions.ts': entry('the definitions of Argo CD and Flux', async () =>
    (await import('./gitops/definitions.ts')).findAllDefinitions(),
  ),
  'extended/corpora/build.ts': entry('the sites of the corpora', async () =>
    (await import('../extended/corpora/corpora.ts')).findCorpora(),
  ),
  'extended/krew/krew.ts': entry('krew', async () => (await import('../extended/krew/krew.ts')).findKrew()),
  'extended/tekton/tekton-task.ts': entry("Tekton's validation", async () =>
    (await import('../extended/tekton/tekton-task.ts')).findTektonValidation(),
  ),
  'extended/workflows/actionlint.ts': entry('actionlint', async () =>
    (await import('../extended/workflows/actionlint.ts')).findActionlint(),
  ),
  'extended/release/dockerfile-plan.ts': entry("BuildKit's reader of Dockerfiles", async () =>
    (await import('../extended/release/dockerfile-plan.ts')).findDockerfilePlan(),
  ),
  'extended/node-24/node-24.ts': entry('Node 24', async () =>
    (await import('../extended/node-24/node-24.ts')).findNode24(),
  ),
  'extended/tables/table-readers.ts': entry('DuckDB, pandas and Meltano', async () =>
    (await import('../extended/tables/table-readers.ts')).findTableReaders(),
  ),
};

/** What these test files need, in the order of the table. */
export function preparationsFor(files: readonly string[]): readonly Preparation[] {
  const loaded = filesLoadedBy(files, [import.meta.filename]);
  return Object.entries(preparations)
    .filter(([file]) => loaded.has(resolve(import.meta.dirname, '..', file)))
    .map(([, preparation]) => preparation);
}

const worthReportingMs = 2_000;

/** Brings one after another: two builds at once would share the memory. */
export async function prepareFor(files: readonly string[], show: (line: string) => void): Promise<void> {
  for (const { name, bring } of preparationsFor(files)) {
    const start = performance.now();
    const fault = await bring().then(missingOf, wordsOf);
    const ms = performance.now() - start;
    if (fault !== undefined) show(`Missing: ${name}. ${fault}\nTests that need it fail or are skipped.`);
    else if (ms > worthReportingMs) show(`Ready after ${Math.round(ms / 1_000)} s: ${name}.`);
  }
}

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function missingOf(found: unknown): string | undefined {
  const isMissing = typeof found === 'object' && found !== null && 'missing' in found;
  return isMissing ? String(found.missing) : undefined;
}
