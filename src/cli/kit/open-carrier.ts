// From the reference that `--to` names to the carrier behind it. The one function to fill where registries and buckets are
// wired to the command line. Refuses both until then.

import type { Carrier } from '../../mirror/carrier.ts';
import { CliError } from '../cli-error.ts';
import type { CliContext } from '../context.ts';

/** @param reference `oci://HOST/REPOSITORY` or `s3://BUCKET/PREFIX` */
export type OpenCarrier = (
  reference: string,
  context: Pick<CliContext, 'clock' | 'env' | 'random' | 'signal'>,
) => Promise<Carrier>;

/** @throws {CliError} `TargetNotSupported` */
export const openCarrier: OpenCarrier = async () => {
  throw new CliError(
    'usage',
    'TargetNotSupported',
    '--to names a registry or a bucket, which this build cannot write',
    {
      next: ['Import with --to-folder or --to-store.'],
    },
  );
};
