// The manifest with which krew installs the command line as a plugin of kubectl. Pure. The archive is the npm package: one
// file for both. Only Linux is named, because only there is it tested.

import { stringify } from 'yaml';

/** Krew links it as `kubectl-static_export`. */
export const pluginName = 'static-export';

export function krewManifest(archive: {
  readonly version: string;
  /** Where krew downloads it. */
  readonly uri: string;
  readonly sha256: string;
}): string {
  const manifest = {
    apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
    kind: 'Plugin',
    metadata: { name: pluginName },
    spec: {
      version: `v${archive.version}`,
      shortDescription: 'Publish, pin and diagnose exported docs sites',
      description:
        'Lists StaticExports, requests, promotes, pins and rolls back their versions, and inspects and serves their archives.\n',
      caveats:
        'Needs Node.js 24 or newer as "node" on the PATH.\nFor completion by kubectl, link kubectl_complete-static_export of the plugin into a folder of the PATH.\n',
      platforms: [
        {
          selector: { matchLabels: { os: 'linux' } },
          uri: archive.uri,
          sha256: archive.sha256,
          bin: 'package/static-export.mjs',
        },
      ],
    },
  };
  return stringify(manifest, { lineWidth: 0 });
}
