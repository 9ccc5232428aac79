// The values with which helm-controller would render a HelmRelease: its `valuesFrom` and `values`, joined by Flux's own
// chartutil. helm-controller itself cannot be built here.
//
//   const values = await helmValues(controlPlane, 'docs', 'site');

import assert from 'node:assert/strict';
import { parse } from 'yaml';
import type { TestCluster } from '../cluster.ts';
import { runCommand } from '../command.ts';
import { findGitOpsProgram } from './programs.ts';

/**
 * @returns the parsed values
 * @throws AssertionError with the program's message, such as a `valuesFrom` that names an absent object
 */
export async function helmValues(
  { kubeconfig }: Pick<TestCluster, 'kubeconfig'>,
  namespace: string,
  name: string,
): Promise<unknown> {
  const program = await findGitOpsProgram('helm-values');
  const { code, stdout, stderr } = await runCommand([program, namespace, name], {
    env: { KUBECONFIG: kubeconfig },
  });
  assert.equal(code, 0, stderr);
  return parse(stdout);
}
