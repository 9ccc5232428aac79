// The version every program prints and sends in its User-Agent: the package's own, read at build time.

import manifest from '../../package.json' with { type: 'json' };

export const version: string = manifest.version;
export const userAgent = `static-export-operator/${version}`;
