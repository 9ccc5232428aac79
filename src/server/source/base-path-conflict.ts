// Whether content was exported for another path than `--base-path`. Served so, every link of its pages would lead to
// nothing, and visitors would see a blank site. Refuses nothing where either side is unset.

/** A refusal as it is reported: a stable code, and a message with its remedy. */
export interface BasePathConflict {
  readonly code: 'BasePathConflict';
  readonly message: string;
}

/**
 * @param named the path that bundle.json or the record of the disk names, `''` for the root; `undefined`: none
 * @param fixed the value of `--base-path`, `''` for the root; `undefined`: the flag is not set
 */
export function conflictOf(
  named: string | undefined,
  fixed: string | undefined,
): BasePathConflict | undefined {
  if (named === undefined || fixed === undefined || named === fixed) return undefined;
  const message = `bundle.json names basePath ${named || '/'}, but --base-path is ${fixed || '/'}; remove --base-path (site.basePath of the chart), or export the site for ${fixed || '/'}`;
  return { code: 'BasePathConflict', message };
}
