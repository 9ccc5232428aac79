// Brings every program that the chosen test files need, before the first of them starts: builds and downloads have no time
// limit of a test, and happen once. What cannot be brought is reported, and the tests that need it say the same again.

import { resolve } from 'node:path';
import { filesLoadedBy } from './import-graph.ts';

export interface Preparation {
  readonly name: string;
  /** Resolves when the program is in the cache; at once where it is there. */
  readonly bring: () => Promise<unknown>;
}

/** By the file, in this folder, that finds the program. A test file that loads it needs the program. */
export const preparations: Readonly<Record<string, Preparation>> = {
  'cluster-tools.ts': {
    name: 'kubectl and helm',
    bring: async () => (await import('./cluster-tools.ts')).findClusterTools(),
  },
  'control-plane-binary.ts': {
    name: 'etcd and kube-apiserver',
    bring: async () => (await import('./control-plane-binary.ts')).findControlPlane(),
  },
  'versitygw.ts': {
    name: 'versitygw',
    bring: async () => (await import('./versitygw.ts')).findVersitygw(),
  },
  'go-tools.ts': {
    name: 'krew and the validation of Tekton',
    bring: async () => {
      const { findKrew, findTektonValidation } = await import('./go-tools.ts');
      await findKrew();
      await findTektonValidation();
    },
  },
  'promtool.ts': { name: 'promtool', bring: async () => (await import('./promtool.ts')).findPromtool() },
  'check-jsonschema.ts': {
    name: 'check-jsonschema',
    bring: async () => (await import('./check-jsonschema.ts')).findCheckJsonSchema(),
  },
  'table-readers.ts': {
    name: 'DuckDB, pandas and Meltano',
    bring: async () => (await import('./table-readers.ts')).findTableReaders(),
  },
  'next-export.ts': {
    name: 'a site by Next.js',
    bring: async () => (await import('./next-export.ts')).findNextExport(),
  },
  'node/name-server.ts': {
    name: 'the name server of nodes',
    bring: async () => (await import('./node/name-server.ts')).findNameServer(),
  },
  'gitops/programs.ts': {
    name: 'the GitOps controllers',
    bring: async () => (await import('./gitops/programs.ts')).findGitOpsPrograms(),
  },
  'gitops/definitions.ts': {
    name: 'the definitions of Argo CD and Flux',
    bring: async () => (await import('./gitops/definitions.ts')).findAllDefinitions(),
  },
};

/** What these test files need, in the order of the table. */
export function preparationsFor(files: readonly string[]): readonly Preparation[] {
  const loaded = filesLoadedBy(files);
  return Object.entries(preparations)
    .filter(([file]) => loaded.has(resolve(import.meta.dirname, file)))
    .map(([, preparation]) => preparation);
}

const worthReportingMs = 2_000;

/** Brings one after another: two builds at once would share the memory. */
export async function prepareFor(files: readonly string[], show: (line: string) => void): Promise<void> {
  for (const { name, bring } of preparationsFor(files)) {
    const start = performance.now();
    const fault = await bring().then(missingOf, (error: unknown) => String(error));
    const ms = performance.now() - start;
    if (fault !== undefined) show(`not there: ${name}: ${fault}`);
    else if (ms > worthReportingMs) show(`ready: ${name}, after ${Math.round(ms / 1_000)} s`);
  }
}

function missingOf(found: unknown): string | undefined {
  const isMissing = typeof found === 'object' && found !== null && 'missing' in found;
  return isMissing ? String(found.missing) : undefined;
}
