// Flags that say how a mirror is reached, for commands that write or read one. Named as those of bundle-server. Refuses: the
// address of the mirror, which each command has in its own way.

import { path, text, toggle } from '#platform/runtime/flags/flag-kinds.ts';

/** @param mirror what the credentials are for: `--to` */
export const credentialFlags = (mirror: string) => ({
  mirrorCredentials: path.optional(
    `Folder with credentials for ${mirror}, as a mounted Secret: .dockerconfigjson (or config.json), username and password, or accessKeyId and secretAccessKey`,
  ),
  mirrorEndpoint: text.optional(
    'Address of the S3 service, if it is not AWS, for example https://s3.example.com',
  ),
  mirrorRegion: text.withDefault('us-east-1', 'Region of the bucket'),
  mirrorPathStyle: toggle('Write the bucket into the path of S3 addresses instead of the host name'),
  allowHttpMirror: toggle('Allow a mirror without TLS'),
  extraCaFile: path.optional('PEM file of CA certificates to trust in addition to the system’s'),
});
