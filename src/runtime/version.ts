// The version every program prints and sends in its User-Agent: the package's own.
// A bundled program has it built in; nothing is read at run time.

import manifest from '../../package.json' with { type: 'json' };

export const version: string = manifest.version;
/** The oldest Node that the programs run on, from `engines`. */
export const oldestNode: string = manifest.engines.node.replace('>=', '');
export const userAgent = `static-export-operator/${version}`;
/** Of the Node that runs this program. */
export const nodeVersion: string = process.versions.node;
