// Where kube-apiserver, etcd and their kin come from: KUBEBUILDER_ASSETS if set, else the Go module beside
// this file, built once with visible progress and cached by a hash of its files.

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { cachedFolder } from './tool-cache.ts';

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

/** Called while the binary is being built; never when it is cached. */
export type BuildProgress = (builtPackages: number, allPackages: number) => void;

/**
 * Resolves when the programs can be run. A cold build takes about five minutes on two cores.
 * @throws Error saying what to install when there is neither Go nor KUBEBUILDER_ASSETS
 */
export async function findControlPlane(
  onProgress: BuildProgress,
): Promise<(program: ControlPlaneProgram) => Command | undefined> {
  const assets = process.env['KUBEBUILDER_ASSETS'];
  if (assets !== undefined && assets !== '') {
    return (program) => {
      const file = join(assets, program);
      return existsSync(file) ? { file, args: [] } : undefined;
    };
  }
  const folder = await cachedFolder(`control-plane-${hashModule()}`, (draft) =>
    build(join(draft, 'control-plane'), draft, onProgress),
  );
  return (program) => ({ file: join(folder, 'control-plane'), args: [program] });
}

function hashModule(): string {
  const hash = createHash('sha256').update(`${process.platform}-${process.arch}`);
  for (const name of readdirSync(moduleFolder).sort()) {
    hash.update(`\0${name}\0`).update(readFileSync(join(moduleFolder, name)));
  }
  return hash.digest('hex').slice(0, 16);
}

async function build(output: string, draft: string, onProgress: BuildProgress): Promise<void> {
  const source = join(draft, 'source');
  await cp(moduleFolder, source, { recursive: true });
  const env = {
    ...process.env,
    PATH: `${process.env['PATH'] ?? ''}${delimiter}/usr/local/go/bin`,
    CGO_ENABLED: '0',
    GOFLAGS: '-mod=readonly',
  };
  const list = await runGo(
    ['list', '-deps', '-f', '{{if not .Standard}}{{.ImportPath}}{{end}}', '.'],
    source,
    env,
    () => {},
  );
  const all = list.split('\n').filter((line) => line !== '').length + 250;
  const version = kubernetesVersion.exec(readFileSync(join(source, 'go.mod'), 'utf8'))?.[1] ?? '';
  const [major = '', minor = ''] = version.split('.');
  // Without these the server reports v0.0.0 and clients misbehave.
  const prefix = '-X k8s.io/component-base/version';
  const ldflags = `-s -w ${prefix}.gitVersion=v${version} ${prefix}.gitMajor=${major} ${prefix}.gitMinor=${minor}`;
  let built = 0;
  await runGo(['build', '-v', '-trimpath', '-ldflags', ldflags, '-o', output, '.'], source, env, (line) => {
    if (line.startsWith('go: ')) return;
    built += 1;
    onProgress(built, all);
  });
}

function runGo(
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv,
  onLine: (line: string) => void,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn('go', args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    let tail: string[] = [];
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      const lines = text.split('\n').filter((line) => line !== '');
      tail = [...tail, ...lines].slice(-15);
      lines.forEach(onLine);
    });
    child.on('error', (cause) => {
      reject(
        new Error(
          'The tests and the demo run on a real kube-apiserver, built once from its Go module, and "go" is not there. ' +
            'Install Go 1.25 or newer, or set KUBEBUILDER_ASSETS to a folder with etcd and kube-apiserver.',
          { cause },
        ),
      );
    });
    child.on('close', (code) => {
      if (code === 0) resolve(stdout);
      else reject(new Error(`go ${args[0]} failed with code ${code}:\n${tail.join('\n')}`));
    });
  });
}
