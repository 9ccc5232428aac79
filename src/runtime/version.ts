// The version every program prints and sends in its User-Agent: the package's own.
// A bundled program has it built in; nothing is read at run time.

import manifest from '../../package.json' with { type: 'json' };

export const version: string = manifest.version;
export const userAgent = `static-export-operator/${version}`;
