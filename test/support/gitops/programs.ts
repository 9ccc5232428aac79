// The real GitOps programs that tests run: Argo CD's two controllers in one binary, Flux's kustomize-controller, a printer
// of the values that helm-controller would use, and Flux's reader of OCI artifacts. Each is built once from its Go module,
// which takes up to six minutes on two cores, and is then cached. One build runs at a time, so that two do not share the
// memory.
//
// A test file that needs them passes `noGitOps` as its `skip`.

import { spawnSync } from 'node:child_process';
import { delimiter, join } from 'node:path';
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
  return findGoProgram(modules[name]);
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

/** All of them, one after another. */
export async function findGitOpsPrograms(): Promise<void> {
  if (noGitOps !== false) return;
  for (const name of Object.keys(modules) as GitOpsProgram[]) await findGitOpsProgram(name);
}
