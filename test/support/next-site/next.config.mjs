// A static export of the App Router: pages, and beside each of them the payloads that links fetch. What differs
// between two builds is the version, which is in every page, in the code of the client, and in the build's id.

const version = process.env.SITE_VERSION ?? 'v1';

export default {
  output: 'export',
  trailingSlash: process.env.SITE_TRAILING_SLASH === 'true',
  generateBuildId: () => `build-of-${version}`,
  env: { SITE_VERSION: version },
  // Else a lock file in a folder above would be taken for the project's.
  turbopack: { root: import.meta.dirname },
};
