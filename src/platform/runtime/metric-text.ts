// The text of one metric, in pieces where the metric makes pieces itself. For ten thousand resources one metric is
// megabytes, and code that makes them at once delays everything else.

import type { Registry } from 'prom-client';

/** A registered metric whose lines are made as they are read. */
export interface PiecewiseMetric {
  /** Whole lines, in the text format; together what the registry would say. */
  pieces(): Iterable<string>;
}

/** Whole lines; the consumer may do other work between two of them. */
export async function* textsOf(
  registry: Registry,
  metric: { readonly name: string },
): AsyncGenerator<string> {
  if (isPiecewise(metric)) yield* metric.pieces();
  else yield `${await registry.getSingleMetricAsString(metric.name)}\n`;
}

function isPiecewise(metric: object): metric is PiecewiseMetric {
  return 'pieces' in metric && typeof metric.pieces === 'function';
}
