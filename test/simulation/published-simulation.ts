// What the rule stories share: a resource that is published already, a request, and the next verdict.
// Owns no assertion; the stories do.

import { outputName, resource, Simulation, type WorldOptions } from './simulation.ts';

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const configMapId = `${resource.namespace}/${outputName}`;

export async function publishedSimulation(options: WorldOptions = {}): Promise<Simulation> {
  const simulation = new Simulation(options);
  await simulation.until(() => simulation.condition('Ready') === 'True/Published');
  return simulation;
}

export function request(simulation: Simulation, token: string): void {
  simulation.annotate({ 'staticexport.dev/requestedAt': token });
}

/** Runs until the job that follows the present one is judged. */
export async function nextVerdict(simulation: Simulation): Promise<string | undefined> {
  const before = simulation.status().job?.id;
  await simulation.until(
    () => simulation.status().job?.id !== before && simulation.status().job?.verdict !== undefined,
  );
  return simulation.status().job?.verdict;
}
