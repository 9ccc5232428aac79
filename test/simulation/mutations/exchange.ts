// One rule broken on purpose: which functions of one module are replaced, which scenario must fail, in which words.
// Replacements are built around the real functions and are typed by the module, so that a rename does not compile.
// Only calls from other modules reach a replacement; calls within the module keep the real function.

import type { scenarios } from '../scenarios.ts';

export interface Mutation {
  readonly rule: string;
  readonly exchange: Exchange;
  readonly scenario: keyof typeof scenarios;
  /** The message that the scenario fails with. */
  readonly caught: RegExp;
}

export type Mutations = Readonly<Record<string, Mutation>>;

export interface Exchange {
  /** The namespace of the module as the product imports it. */
  readonly module: object;
  readonly replacements: Readonly<Record<string, Replacer['replace']>>;
}

/** Declared as a method: its parameters are compared loosely, so one list holds replacements of any module. */
interface Replacer {
  replace(real: unknown, module: unknown): unknown;
}

/** For functions that the module exports, by name: the replacement, given the real function and its module. */
export type Replacements<M> = {
  readonly [K in keyof M as M[K] extends (...given: never[]) => unknown ? K : never]?: (
    real: M[K],
    module: M,
  ) => M[K];
};

/** @param module imported with `import * as` */
export function exchange<M extends object>(module: M, replacements: Replacements<NoInfer<M>>): Exchange {
  const pairs: readonly (readonly [string, Replacer['replace']])[] = Object.entries(replacements);
  return { module, replacements: Object.fromEntries(pairs) };
}
