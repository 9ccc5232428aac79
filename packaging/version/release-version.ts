// Versions of releases: `X.Y.Z`, or `X.Y.Z-rc.1` before one. Pure. Refuses build metadata, because a tag of a registry has
// no `+`, and leading zeros, because two texts would be one version.

/** Source of an expression that finds `X.Y` in a text; it has no group. */
export const minorPattern = '(?:0|[1-9]\\d*)\\.(?:0|[1-9]\\d*)';

/** Source of an expression that finds a version in a text; it has no group. */
export const versionPattern = `${minorPattern}\\.(?:0|[1-9]\\d*)(?:-[0-9A-Za-z]+(?:[.-][0-9A-Za-z]+)*)?`;

/** @returns `X.Y` of the version, also of a prerelease */
export const minorOf = (version: string): string => version.split('.').slice(0, 2).join('.');

const whole = new RegExp(`^${versionPattern}$`);

export function isReleaseVersion(text: string): boolean {
  const identifiers = text.split('-').slice(1).join('-').split('.');
  return whole.test(text) && identifiers.every((one) => !/^0\d+$/.test(one));
}

/** `0.2.0-rc.1` precedes `0.2.0`. */
export function isPrerelease(version: string): boolean {
  return version.includes('-');
}

/** Below 0: `version` precedes `than`, as semantic versioning orders both. */
export function compareReleaseVersions(version: string, than: string): number {
  const [own, other] = [partsOf(version), partsOf(than)];
  for (const [at, number] of own.numbers.entries()) {
    const difference = number - (other.numbers[at] ?? 0);
    if (difference !== 0) return difference;
  }
  if (own.before.length === 0 || other.before.length === 0) return other.before.length - own.before.length;
  for (const [at, identifier] of own.before.entries()) {
    const against = other.before[at];
    if (against === undefined) return 1;
    const difference = compareIdentifiers(identifier, against);
    if (difference !== 0) return difference;
  }
  return own.before.length - other.before.length;
}

function partsOf(version: string): {
  readonly numbers: readonly number[];
  readonly before: readonly string[];
} {
  const [core = '', ...rest] = version.split('-');
  return {
    numbers: core.split('.').map(Number),
    before: rest.length === 0 ? [] : rest.join('-').split('.'),
  };
}

/** Numbers precede words. */
function compareIdentifiers(one: string, other: string): number {
  const areNumbers = [one, other].map((text) => /^\d+$/.test(text));
  if (areNumbers[0] && areNumbers[1]) return Number(one) - Number(other);
  if (areNumbers[0] !== areNumbers[1]) return areNumbers[0] ? -1 : 1;
  return one < other ? -1 : Number(one > other);
}
