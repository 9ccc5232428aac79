// The schema of `spec.mirror`: where checked bundles are copied, by digest. Refuses credentials in it, and a place of two
// kinds. Invariant: its patterns accept only what `mirror/mirror-reference.ts` can write into a reference.

import * as z from 'zod';
import { cel, durationText, formed, objectName, shownText } from './schema-texts.ts';

/** As in the OCI distribution specification, after a host with an optional port. */
export const repositoryPattern = '^[a-z0-9][a-z0-9.-]*(:[0-9]{1,5})?(/[a-z0-9]+(([.]|_|__|-+)[a-z0-9]+)*)+$';
const bucketPattern = '^[a-z0-9]([a-z0-9-]|[.][a-z0-9]){1,61}[a-z0-9]$';
const prefixPattern = '^[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$';
const regionPattern = '^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$';

const secretRef = z.object({ name: objectName.describe('Name of a Secret in the same namespace.') });

const oci = z
  .object({
    repository: formed(
      512,
      repositoryPattern,
      'must be a repository such as registry.example.com/docs/site: lower case, without scheme, tag and digest',
    ).describe(
      'Repository of an OCI registry. --allowed-mirror-hosts must allow its host. A registry that does not create repositories needs it created before.',
    ),
    secretRef: secretRef.describe(
      'Secret with .dockerconfigjson, or username and password. The token needs push and pull.',
    ),
  })
  .describe('A repository of an OCI registry.');

const s3 = z
  .object({
    endpoint: shownText(2048, {
      rule: "isURL(self) && (url(self).getScheme() == 'https' || url(self).getScheme() == 'http') && self.matches('^[a-z]+://[^/?#@]+/?$')",
      message: 'endpoint must be https://HOST or https://HOST:PORT, without path, user and query',
    })
      .describe('Address of an S3 service other than AWS. --allowed-mirror-hosts must allow its host.')
      .optional(),
    region: formed(32, regionPattern, 'must be a region such as eu-west-1')
      .describe('Region of the bucket. Default: us-east-1.')
      .optional(),
    bucket: formed(
      63,
      bucketPattern,
      'must be the name of a bucket: lower-case letters, digits, "-" and ".", 3 to 63 characters',
    ).describe('Name of the bucket. It must exist.'),
    prefix: formed(
      256,
      prefixPattern,
      'must be a path such as docs/site: letters, digits, "-", "_" and ".", without slashes at its ends',
    )
      .describe('Path within the bucket. Default: the whole bucket.')
      .optional(),
    secretRef: secretRef.describe(
      'Secret with accessKeyId and secretAccessKey, and sessionToken where it is needed.',
    ),
    pathStyle: z
      .boolean()
      .describe('Whether the bucket is part of the path, not of the host name. Default: false.')
      .optional(),
  })
  .describe('A prefix of an S3 bucket.');

const placeRule = 'mirror needs exactly one of oci and s3';

export const mirrorSchema = z
  .object({
    oci: oci.optional(),
    s3: s3.optional(),
    policy: z
      .enum(['Required', 'BestEffort'])
      .describe(
        'Required publishes only what was copied and read back. BestEffort publishes without a copy where copying fails, and copies later. Default: Required.',
      )
      .optional(),
    compression: z
      .enum(['Zstd', 'Gzip'])
      .describe('Compression of the layer. Flux and Argo CD need Gzip. Default: Zstd.')
      .optional(),
    retention: z
      .object({
        unlisted: durationText.describe(
          'A copy that status.history no longer lists is deleted after this time, at least 24h. The repository or prefix then belongs to this resource alone.',
        ),
      })
      .describe('Which copies the operator deletes. Default: none.')
      .optional(),
  })
  .refine((value) => (value.oci === undefined) !== (value.s3 === undefined), { error: placeRule })
  .meta(cel({ rule: 'has(self.oci) != has(self.s3)', message: placeRule }))
  .describe('Where the operator copies each checked bundle, by digest.');

export type SpecMirror = z.infer<typeof mirrorSchema>;
