// Whether a test may be left out for want of something on this machine. On a machine of your own it may, and says why; where
// TESTS_MAY_SKIP is set, as CI sets it, only what it names may, and anything else that is missing is a failure.

/** What a machine can lack. `root` is the right to mount and to make namespaces, `peers` are nginx and Caddy. */
export const skippable = [
  'chromium',
  'gitops',
  'history',
  'jsonschema',
  'man',
  'minisign',
  'nodes',
  'peers',
  'promtool',
  'registry',
  'root',
  's3',
  'shells',
] as const;
export type Skippable = (typeof skippable)[number];

/**
 * @param missing why a test that needs `thing` cannot run here, `false` when it can
 * @param env where TESTS_MAY_SKIP may be set
 * @returns `missing`, for the `skip` of a test
 * @throws Error saying so when it may not be left out
 */
export function maySkip(
  thing: Skippable,
  missing: string | false,
  env: Readonly<Record<string, string | undefined>> = process.env,
): string | false {
  const allowed = env['TESTS_MAY_SKIP'];
  if (missing === false || allowed === undefined) return missing;
  if (allowed.split(/[\s,]+/).includes(thing)) return missing;
  throw new Error(`${missing}. To leave out what needs it, name "${thing}" in TESTS_MAY_SKIP.`);
}
