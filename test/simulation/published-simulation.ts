// Shared by the tests of the rules: a resource that is published, a request, and the next verdict.
// The tests own the assertions.

import { outputName, resource, Simulation, type SimulationOptions } from './simulation.ts';

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const configMapId = `${resource.namespace}/${outputName}`;

export async function publishedSimulation(options: SimulationOptions = {}): Promise<Simulation> {
  const simulation = new Simulation(options);
  await simulation.until(() => simulation.condition('Ready') === 'True/Published');
  return simulation;
}

export function request(simulation: Simulation, token: string): void {
  simulation.annotate({ 'staticexport.dev/requestedAt': token });
}

/** Runs until the job after the present one has a verdict. */
export async function nextVerdict(simulation: Simulation): Promise<string | undefined> {
  const before = simulation.status().job?.id;
  await simulation.until(
    () => simulation.status().job?.id !== before && simulation.status().job?.verdict !== undefined,
  );
  return simulation.status().job?.verdict;
}
