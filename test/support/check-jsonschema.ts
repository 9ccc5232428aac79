// check-jsonschema, which brings the schemas of GitHub's workflows and GitLab's pipelines. From PATH, or of its Python
// package in the cache (nothing is installed into the system); where neither can be obtained, there is none.

import { mustRun, runCommand } from './command.ts';
import { cachedFolder } from './tool-cache.ts';

const version = '0.39.0';

/** @returns the beginning of its command line, or why there is none */
export async function findCheckJsonSchema(): Promise<
  { readonly command: readonly string[] } | { readonly missing: string }
> {
  if ((await runCommand(['check-jsonschema', '--version'])).code === 0)
    return { command: ['check-jsonschema'] };
  try {
    const folder = await cachedFolder(`check-jsonschema-${version}`, async (draft) => {
      const pip = ['python3', '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'];
      await mustRun([...pip, '--target', draft, `check-jsonschema==${version}`], { timeoutMs: 120_000 });
    });
    return { command: ['env', `PYTHONPATH=${folder}`, 'python3', '-m', 'check_jsonschema'] };
  } catch (error) {
    const why = error instanceof Error ? (error.message.split('\n')[1] ?? '') : '';
    return { missing: `check-jsonschema is not on PATH, and its package could not be obtained: ${why}` };
  }
}
