// The names of the metrics that a source file registers, read from its text: programs make their registries when they
// start, and a check of names must not start them. Pure. Invariant: a name stands before its help text, which begins with a capital or a digit.

const registration = /(['`])(\$\{prefix\})?([a-z][a-z0-9]*(?:_[a-z0-9]+)+)\1,\s*(?:help:\s*)?['`][A-Z0-9]/g;
const prefixLine = /^const prefix = '([a-z_]+_)';$/m;
const registers = /from '(?:prom-client|[^']*\/collected-gauge\.ts)'/;

/** None of a file that registers no metric. */
export function metricNames(text: string): readonly string[] {
  if (!registers.test(text)) return [];
  const prefix = prefixLine.exec(text)?.[1] ?? '';
  return [...text.matchAll(registration)].map(([, , , name = '']) => prefix + name);
}
