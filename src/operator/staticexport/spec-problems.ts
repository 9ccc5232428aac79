// What is wrong with a spec, for its author: the field, and what is expected there. Pure. Refuses: quoting a value,
// because it may be a secret in the wrong field.

import type * as z from 'zod';

/** @param raw the spec as it came, to tell a missing field from one of another type */
export function describeProblems({ issues }: z.ZodError, raw: unknown): readonly string[] {
  const problems = issues.map((issue) => {
    const field = `spec${issue.path.map((part) => `.${String(part)}`).join('')}`;
    return `${field} (${isMissing(issue.path, raw) ? 'required' : expectation(issue)})`;
  });
  return [...new Set(problems)].slice(0, 8);
}

/** What stands in the schema; a message by zod might quote the value. */
function expectation(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'custom':
      return issue.message;
    case 'invalid_type':
      return `must be ${typeWords[issue.expected] ?? `of type ${issue.expected}`}`;
    case 'invalid_value':
      return `must be ${issue.values.map(String).join(' or ')}`;
    case 'too_small':
      return `must be at least ${issue.minimum}${unitOf(issue.origin)}`;
    case 'too_big':
      return `must be at most ${issue.maximum}${unitOf(issue.origin)}`;
    default:
      return `not valid: ${issue.code}`;
  }
}

const typeWords: Readonly<Record<string, string>> = {
  string: 'text; put it in quotes',
  int: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  object: 'a map of fields',
  array: 'a list',
};

const unitOf = (origin: string): string =>
  origin === 'string' ? ' characters long' : origin === 'array' ? ' items long' : '';

function isMissing(path: readonly PropertyKey[], raw: unknown): boolean {
  let at = raw;
  for (const part of path) {
    if (typeof at !== 'object' || at === null) return false;
    at = Reflect.get(at, part);
  }
  return at === undefined || at === null;
}
