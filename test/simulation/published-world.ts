// What the rule stories share: a resource that is published already, a request, and the next verdict.
// Owns no assertion; the stories do.

import { outputName, resource, World, type WorldOptions } from './world.ts';

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const configMapId = `${resource.namespace}/${outputName}`;

export async function publishedWorld(options: WorldOptions = {}): Promise<World> {
  const world = new World(options);
  await world.until(() => world.condition('Ready') === 'True/Published');
  return world;
}

export function request(world: World, token: string): void {
  world.annotate({ 'staticexport.dev/requestedAt': token });
}

/** Runs until the job that follows the present one is judged. */
export async function nextVerdict(world: World): Promise<string | undefined> {
  const before = world.status().job?.id;
  await world.until(() => world.status().job?.id !== before && world.status().job?.verdict !== undefined);
  return world.status().job?.verdict;
}
