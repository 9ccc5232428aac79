// A gauge whose values are read when it is asked for and kept by nobody: of ten thousand resources, what a scrape
// leaves behind would be larger than all else that is known of them. What is gone leaves no line.

import { Gauge, type Registry } from 'prom-client';

export interface GaugeLine {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface CollectedGaugeOptions {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
  readonly registry: Registry;
  /** Every line, at every scrape. Labels that occur twice would make the scrape invalid. */
  readonly read: () => Iterable<GaugeLine>;
}

export class CollectedGauge extends Gauge {
  readonly #read: () => Iterable<GaugeLine>;

  constructor({ name, help, labelNames, registry, read }: CollectedGaugeOptions) {
    super({ name, help, labelNames, registers: [registry] });
    this.#read = read;
  }

  override async get(): ReturnType<Gauge['get']> {
    const described = await super.get();
    return { ...described, values: [...this.#read()] };
  }
}
