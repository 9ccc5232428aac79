// Flux's real kustomize-controller on loopback against a test's control plane, as its administrator. It ends with the test
// program. Its sources are played: see played-source.ts.
//
//   await applyDefinitions(controlPlane, 'flux');
//   const flux = await startKustomizeController(controlPlane);
//   …
//   await flux.stop();

import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type ChildProgram, startProgram } from '../child-program.ts';
import type { TestCluster } from '../cluster.ts';
import { eventually } from '../eventually.ts';
import { findFreePort } from '../free-port.ts';
import { findGitOpsProgram } from './programs.ts';

export interface KustomizeController {
  readonly child: ChildProgram;
  /** Where it writes its log. */
  readonly logFile: string;
  stop(): Promise<void>;
}

/** Resolves when the controller is ready. The definitions of Flux must be there. */
export async function startKustomizeController(
  controlPlane: Pick<TestCluster, 'kubeconfig' | 'folder'>,
  flags: readonly string[] = [],
): Promise<KustomizeController> {
  const program = await findGitOpsProgram('kustomize-controller');
  const health = `127.0.0.1:${await findFreePort()}`;
  const logFile = join(controlPlane.folder, 'kustomize-controller.log');
  // It builds each Kustomization in a folder of its own, and several controllers run at once.
  const temporary = join(controlPlane.folder, 'kustomize-controller');
  await mkdir(temporary, { recursive: true });
  const child = startProgram(program, {
    args: [
      `--metrics-addr=127.0.0.1:${await findFreePort()}`,
      `--health-addr=${health}`,
      '--enable-leader-election=false',
      '--interval-jitter-percentage=0',
      // Half a minute by default, for which a Kustomization waits before it checks `dependsOn` again.
      '--requeue-dependency=2s',
      '--log-level=debug',
      ...flags,
    ],
    env: { KUBECONFIG: controlPlane.kubeconfig, RUNTIME_NAMESPACE: 'flux-system', TMPDIR: temporary },
    logFile,
  });
  await eventually(
    'a ready kustomize-controller',
    async () => {
      if (child.hasExited()) return true;
      return (await fetch(`http://${health}/readyz`)).ok || undefined;
    },
    { timeoutMs: 180_000 },
  );
  assert.equal(child.hasExited(), false, child.tail());
  return { child, logFile, stop: () => child.stop() };
}
