// The version every program prints and sends in its User-Agent: the package's own.
// A bundled program has it built in; nothing is read at run time.

import manifest from '../../../package.json' with { type: 'json' };

export const version: string = manifest.version;
/** The oldest Node that the programs run on, from `engines`. */
export const oldestNode: string = manifest.engines.node.replace('>=', '');
export const userAgent = `static-export-operator/${version}`;
/** Of the Node that runs this program. */
export const nodeVersion: string = process.versions.node;

/** Compares by number, without the collator of the platform: loading that takes as long as a fifth of `--help`. */
export function isOlder(version: string, than: string): boolean {
  const [parts, others] = [version, than].map((one) =>
    one.split('.').map((part) => Number.parseInt(part, 10)),
  );
  const at = (parts ?? []).findIndex((part, index) => part !== others?.[index]);
  return (parts?.[at] ?? 0) < (others?.[at] ?? 0);
}
