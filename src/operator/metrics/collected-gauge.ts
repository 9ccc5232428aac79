// A gauge whose values are read at each scrape and never stored. For ten thousand resources, stored lines would take
// more memory than everything else known of them, and building all at once would delay the reconciles. A deleted
// resource leaves no line.

import { Gauge, type Registry } from 'prom-client';
import type { PiecewiseMetric } from '#platform/runtime/metric-text.ts';

export interface GaugeLine {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A gauge, and what it reads of one source: a value, or lines with labels. `undefined` and none: no line. */
export type GaugeRow<T> = readonly [
  name: string,
  help: string,
  read: (source: T) => number | undefined | readonly GaugeLine[],
  labelNames?: readonly string[],
];

/**
 * @param names of the labels that every line has
 * @param sources at each scrape, with these labels. Labels that occur twice would make the scrape invalid
 */
export function registerGauges<T>(
  registry: Registry,
  rows: readonly GaugeRow<T>[],
  names: readonly string[],
  sources: () => Iterable<readonly [labels: GaugeLine['labels'], source: T]>,
): void {
  for (const [name, help, readSource, ownNames = []] of rows) {
    const read = function* (): Generator<GaugeLine> {
      for (const [common, source] of sources()) {
        const found = readSource(source) ?? [];
        if (typeof found === 'number') yield { labels: common, value: found };
        else for (const { labels, value } of found) yield { labels: { ...common, ...labels }, value };
      }
    };
    new CollectedGauge(registry, name, help, [...names, ...ownNames], read);
  }
}

/** Some milliseconds of work. */
const linesAtOnce = 500;

export class CollectedGauge extends Gauge implements PiecewiseMetric {
  readonly #header: string;
  readonly #name: string;
  readonly #read: () => Iterable<GaugeLine>;

  constructor(
    registry: Registry,
    name: string,
    help: string,
    labelNames: readonly string[],
    read: () => Iterable<GaugeLine>,
  ) {
    super({ name, help, labelNames, registers: [registry] });
    this.#name = name;
    this.#header = `# HELP ${name} ${escaped(help)}\n# TYPE ${name} gauge\n`;
    this.#read = read;
  }

  override async get(): ReturnType<Gauge['get']> {
    const described = await super.get();
    return { ...described, values: [...this.#read()] };
  }

  *pieces(): Generator<string> {
    yield this.#header;
    let lines: string[] = [];
    for (const line of this.#read()) {
      lines.push(this.#textOf(line));
      if (lines.length < linesAtOnce) continue;
      yield lines.join('');
      lines = [];
    }
    if (lines.length > 0) yield lines.join('');
  }

  #textOf({ labels, value }: GaugeLine): string {
    const shown = Object.entries(labels).map(
      ([name, text]) => `${name}="${escaped(text).replaceAll('"', '\\"')}"`,
    );
    return `${this.#name}${shown.length === 0 ? '' : `{${shown.join(',')}}`} ${numberText(value)}\n`;
  }
}

/** As the text format has it (Prometheus, exposition formats, 0.0.4). */
function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

function numberText(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (Number.isFinite(value)) return String(value);
  return value > 0 ? '+Inf' : '-Inf';
}
