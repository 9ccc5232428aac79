// The operator's chart for its tests: its values files, and what is looked for in what they render.

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import {
  chartsFolder,
  fixturesFolder,
  type RenderedObject,
  type RenderOptions,
  renderChart,
} from './rendered-chart.ts';

export const chart = join(chartsFolder, 'static-export-operator');
const fixtures = join(fixturesFolder, 'static-export-operator');
export const fixture = (name: string): string => join(fixtures, `${name}.yaml`);
export const fixtureNames: readonly string[] = readdirSync(fixtures).map((file) => basename(file, '.yaml'));
export const full = 'ops-static-export-operator';

export const render = (name: string, options: RenderOptions = {}): Promise<readonly RenderedObject[]> =>
  renderChart(chart, { release: 'ops', namespace: 'ops', files: [fixture(name)], ...options });

/** The object of this kind and name. */
export function pick(objects: readonly RenderedObject[], id: string): RenderedObject {
  const found = objects.filter((object) => object.id === id);
  assert.equal(
    found.length,
    1,
    `${found.length} objects ${id} among ${objects.map((one) => one.id).join(' ')}`,
  );
  const [object] = found;
  assert.ok(object !== undefined);
  return object;
}

/** `args` of the first container of a Deployment. */
export const argsOf = (objects: readonly RenderedObject[], name: string): readonly string[] =>
  pick(objects, `Deployment/${name}`).textsAt('spec.template.spec.containers.0.args');
