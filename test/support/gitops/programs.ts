// The real GitOps programs that tests run: Argo CD's two controllers in one binary, Flux's kustomize-controller, a printer
// of the values that helm-controller would use, and Flux's reader of OCI artifacts. Each is built once from its Go module,
// which takes up to six minutes on two cores, and is then cached. One build runs at a time, so that two do not share the
// memory.
//
//   node test/support/gitops/programs.ts        builds what is missing, and prints where each program is
//
// A test file that needs them passes `noGitOps` as its `skip`.

import { spawnSync } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findGoProgram, type GoModule } from '../go-program.ts';
import { maySkip } from '../may-skip.ts';

const modules = {
  'helm-values': { folder: join(import.meta.dirname, 'helm-values'), standardPackages: 230 },
  'flux-oci': { folder: join(import.meta.dirname, 'flux-oci'), standardPackages: 194 },
  'kustomize-controller': {
    folder: join(import.meta.dirname, 'kustomize-controller'),
    mainPackage: 'github.com/fluxcd/kustomize-controller',
    standardPackages: 230,
  },
  argocd: { folder: join(import.meta.dirname, 'argocd'), standardPackages: 230 },
} as const satisfies Record<string, GoModule>;

export type GitOpsProgram = keyof typeof modules;

/**
 * The path of the program, built if it is not cached.
 * @throws Error saying what to install when it must be built and there is no Go
 */
export async function findGitOpsProgram(name: GitOpsProgram): Promise<string> {
  return findGoProgram(modules[name], (built, all) => {
    if (built % 200 === 1)
      process.stderr.write(`building ${name} (once): ${built} of about ${all} packages\n`);
  });
}

const path = `${process.env['PATH'] ?? ''}${delimiter}/usr/local/go/bin`;
const missing = ['go', 'git', 'redis-server'].filter(
  (name) => spawnSync('sh', ['-c', `command -v ${name}`], { env: { PATH: path } }).status !== 0,
);

/** Why the tests with GitOps controllers are skipped here; `false` when they are not. */
export const noGitOps = maySkip(
  'gitops',
  missing.length > 0 && `the GitOps controllers need ${missing.join(', ')}`,
);

if (process.argv[1] === fileURLToPath(import.meta.url) && noGitOps !== false) {
  console.log(`not built: ${noGitOps}`);
} else if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const name of Object.keys(modules) as GitOpsProgram[]) {
    const start = performance.now();
    const file = await findGitOpsProgram(name);
    console.log(`${name}: ${file} (${Math.round((performance.now() - start) / 1_000)} s)`);
  }
}
