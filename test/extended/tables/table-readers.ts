// DuckDB, pyarrow, pandas, a Singer target and Meltano: Python packages in the cache, nothing is installed into the system. Where
// they cannot be obtained, there are none. An empty cache takes a download of 180 MB and one or two minutes once.

import { mustRun } from '../../support/command.ts';
import { cachedFolder } from '../../support/tool-cache.ts';
import { words } from '../../support/words.ts';

const packages = words('duckdb==2.0.1 meltano==4.4.1 pandas==3.1.1 pyarrow==26.0.1 target-duckdb==0.8.0');

/** @returns the beginning of a command line that runs Python with them, or why there is none */
export async function findTableReaders(): Promise<
  { readonly python: readonly string[] } | { readonly missing: string }
> {
  try {
    const folder = await cachedFolder(`table-readers-${packages.join('-')}`, async (draft) => {
      process.stderr.write(`Installing ${packages.join(', ')} for the tests, once; about two minutes\n`);
      const pip = words('python3 -m pip install --quiet --no-compile --disable-pip-version-check');
      await mustRun([...pip, '--target', draft, ...packages]);
    });
    return { python: ['env', `PYTHONPATH=${folder}`, 'python3'] };
  } catch (error) {
    const why = error instanceof Error ? (error.message.split('\n')[1] ?? '') : '';
    return { missing: `${packages.join(', ')} could not be obtained as Python packages: ${why}` };
  }
}
