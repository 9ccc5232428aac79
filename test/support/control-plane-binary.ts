// Where kube-apiserver, etcd and their kin come from: KUBEBUILDER_ASSETS if set, else the Go module beside
// this file, built once with visible progress and cached by a hash of its files.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BuildProgress, findGoProgram } from './go-program.ts';

export type { BuildProgress } from './go-program.ts';

const moduleFolder = join(import.meta.dirname, 'control-plane');
const kubernetesVersion = /k8s\.io\/kubernetes v(\S+)/;

export type ControlPlaneProgram =
  | 'etcd'
  | 'kube-apiserver'
  | 'kube-controller-manager'
  | 'kube-scheduler'
  | 'kubelet'
  | 'kube-proxy';

/** How to run a program: the executable, and what goes before its own flags. */
export interface Command {
  readonly file: string;
  readonly args: readonly string[];
}

/**
 * Resolves when the programs can be run. A cold build takes about five minutes on two cores.
 * @throws Error saying what to install when there is neither Go nor KUBEBUILDER_ASSETS
 */
export async function findControlPlane(
  onProgress?: BuildProgress,
): Promise<(program: ControlPlaneProgram) => Command | undefined> {
  const assets = process.env['KUBEBUILDER_ASSETS'];
  if (assets !== undefined && assets !== '') {
    return (program) => {
      const file = join(assets, program);
      return existsSync(file) ? { file, args: [] } : undefined;
    };
  }
  const module = { folder: moduleFolder, linkerFlags: versionFlags(), standardPackages: 250 };
  const file = await findGoProgram(module, onProgress).catch((cause: unknown) => {
    const why = cause instanceof Error ? cause.message : String(cause);
    const remedy =
      'Or set KUBEBUILDER_ASSETS to a folder with etcd, kube-apiserver and kube-controller-manager.';
    throw new Error(`There is no kube-apiserver. ${why}\n${remedy} "npm run demo" needs neither.`, { cause });
  });
  return (program) => ({ file, args: [program] });
}

// Without these the server reports v0.0.0 and clients misbehave.
function versionFlags(): readonly string[] {
  const version = kubernetesVersion.exec(readFileSync(join(moduleFolder, 'go.mod'), 'utf8'))?.[1] ?? '';
  const [major = '', minor = ''] = version.split('.');
  const prefix = '-X k8s.io/component-base/version';
  return [`${prefix}.gitVersion=v${version}`, `${prefix}.gitMajor=${major}`, `${prefix}.gitMinor=${minor}`];
}
