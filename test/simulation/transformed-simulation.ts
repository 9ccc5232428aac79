// Shared by the tests of `spec.transform`: a resource that is published with a mirror, what its output Secret says, and the digest that its
// steps give. The tests own the assertions.

import { type PublishedBundle, parsePublishedBundle } from '#bundle/published-bundle.ts';
import { revisionOfSteps } from '#operator/staticexport/wanted-transform.ts';
import { mirrorSpec, repairedBy } from './fake-mirror.ts';
import { hourMs } from './published-simulation.ts';
import { Simulation } from './simulation.ts';

export async function publishedInMirror(spec: Record<string, unknown>): Promise<Simulation> {
  const simulation = new Simulation({ spec: { mirror: mirrorSpec, ...spec } });
  await simulation.until(() => simulation.condition('Ready') === 'True/Published', hourMs);
  return simulation;
}

export const bundleOf = (simulation: Simulation): PublishedBundle =>
  parsePublishedBundle(simulation.output()?.['bundle.json'] ?? '');

/** @param repair the steps, as `bundle.json` has them */
export function digestOfSteps(
  { mirror, vendor }: Simulation,
  jobId: string,
  repair: string | undefined,
): string {
  const revision = repair && revisionOfSteps(repair, mirror.stepRevisions);
  return repairedBy(repair, vendor.inspectionOf(jobId), revision).digest;
}
