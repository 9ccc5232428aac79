// The values of a chart by their paths, so that a test sets each of them and a new value is not forgotten.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { readEntries } from '../../charts/generate-readme.ts';
import type { ValuesEntry } from '../../charts/value-defaults.ts';

export interface ValuePath {
  readonly path: readonly string[];
  readonly words: string;
  readonly value: unknown;
  readonly isSection: boolean;
}

/** Every section and value of values.yaml. */
export function readValuePaths(chart: string): readonly ValuePath[] {
  const flatten = (entries: readonly ValuesEntry[], above: readonly string[]): readonly ValuePath[] =>
    entries.flatMap(({ name, words, value, children }) => {
      const path = [...above, name];
      const own = { path, words, value, isSection: children !== undefined };
      return [own, ...flatten(children ?? [], path)];
    });
  return flatten(readEntries(readFileSync(join(chart, 'values.yaml'), 'utf8')), []);
}

const record = z.record(z.string(), z.unknown());

/** Whether a values file sets this path, or something below it. */
export function isSetIn(values: unknown, path: readonly string[]): boolean {
  const [key, ...below] = path;
  if (key === undefined) return true;
  const found = record.safeParse(values);
  return found.success && key in found.data && isSetIn(found.data[key], below);
}

/** The values with another one at this path. */
export function withValue(values: object, [key = '', ...below]: readonly string[], value: unknown): object {
  const found = record.parse(values);
  const inner = record.safeParse(found[key]);
  return { ...found, [key]: below.length === 0 ? value : withValue(inner.data ?? {}, below, value) };
}

/** The values without this path. */
export function withoutValue(values: object, [key = '', ...below]: readonly string[]): object {
  const { [key]: found, ...others } = record.parse(values);
  const inner = record.safeParse(found);
  return below.length === 0 || !inner.success
    ? others
    : { ...others, [key]: withoutValue(inner.data, below) };
}
