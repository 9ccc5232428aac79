// The site's chart for its tests: its values files, and what is looked for in what they render.

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

export const chart = join(chartsFolder, 'static-export-site');
export const fixture = (name: string): string => join(fixturesFolder, 'static-export-site', `${name}.yaml`);
export const render = (name: string, options: RenderOptions = {}): Promise<readonly RenderedObject[]> =>
  renderChart(chart, { files: [fixture(name)], ...options });

export const full = 'docs-static-export-site';
export const fixtureNames: readonly string[] = readdirSync(join(fixturesFolder, 'static-export-site')).map(
  (file) => basename(file, '.yaml'),
);

/** The only object of its kind. */
export function one(objects: readonly RenderedObject[], kind: string): RenderedObject {
  const found = objects.filter((object) => object.at('kind') === kind);
  assert.equal(found.length, 1, `${found.length} objects of kind ${kind}`);
  const [object] = found;
  assert.ok(object !== undefined);
  return object;
}

/** What makes the pods. */
export const workload = (objects: readonly RenderedObject[]): RenderedObject => {
  const found = objects.find((object) => object.at('spec.template') !== undefined);
  assert.ok(found !== undefined);
  return found;
};
