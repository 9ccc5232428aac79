// DuckDB, pyarrow and a Singer target: Python packages in the cache, nothing is installed into the system. Where they cannot be
// obtained, there are none.

import { mustRun } from './command.ts';
import { cachedFolder } from './tool-cache.ts';

const packages = ['duckdb==2.0.1', 'pyarrow==26.0.1', 'target-duckdb==0.8.0'];

/** @returns the beginning of a command line that runs Python with them, or why there is none */
export async function findTableReaders(): Promise<
  { readonly python: readonly string[] } | { readonly missing: string }
> {
  try {
    const folder = await cachedFolder(`table-readers-${packages.join('-')}`, async (draft) => {
      const pip = ['python3', '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'];
      await mustRun([...pip, '--target', draft, ...packages], { timeoutMs: 300_000 });
    });
    return { python: ['env', `PYTHONPATH=${folder}`, 'python3'] };
  } catch (error) {
    const why = error instanceof Error ? (error.message.split('\n')[1] ?? '') : '';
    return { missing: `DuckDB, pyarrow and target-duckdb could not be obtained as Python packages: ${why}` };
  }
}
