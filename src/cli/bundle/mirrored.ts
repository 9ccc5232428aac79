// Bundles in a mirror, for commands: the flags that say how it is reached, and a copy, read by the servers' own thread.
// Private addresses are allowed, because the user names the mirror or the StaticExport that has it.

import type { BundleIndex } from '#bundle/bundle-index.ts';
import type { MirrorErrorCode } from '#mirror/mirror-error.ts';
import { readMirrorSecret } from '#mirror/mirror-secret.ts';
import type { MirrorAccess } from '#mirror/open-carrier.ts';
import { restoreInWorker } from '#mirror/restore.ts';
import { openCaFile } from '#platform/http/ca-certificates.ts';
import { userAgent } from '#platform/runtime/version.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { CliError, failureOf } from '../cli-error.ts';
import type { CliContext } from '../context.ts';
import { commandLimitsOf, indexOf, type SizeLimits } from './reading.ts';

export interface MirrorValues {
  readonly mirrorCredentials: string | undefined;
  readonly mirrorEndpoint: string | undefined;
  readonly mirrorRegion: string;
  readonly mirrorPathStyle: boolean;
  readonly allowHttpMirror: boolean;
  readonly extraCaFile: string | undefined;
}

/** @throws {MirrorError} `InvalidCredentials` {PublishableError} `ExtraCaUnreadable`, `ExtraCaInvalid` */
export async function readMirrorAccess(values: MirrorValues): Promise<MirrorAccess> {
  const folder = values.mirrorCredentials;
  return {
    secret: folder === undefined ? undefined : await readMirrorSecret(folder),
    endpoint: values.mirrorEndpoint,
    region: values.mirrorRegion,
    pathStyle: values.mirrorPathStyle,
    allowPrivateAddresses: true,
    isHttpAllowed: values.allowHttpMirror,
    extraCaPem: await (await openCaFile(values.extraCaFile, () => {})).current(),
    userAgent,
  };
}

/** What the user can correct; anything else may pass. */
const lasting: ReadonlySet<string> = new Set<MirrorErrorCode>([
  'InvalidReference',
  'InvalidCredentials',
  'AddressNotAllowed',
  'CertificateNotTrusted',
  'Denied',
  'Refused',
  'RepositoryMissing',
  'WrongRegion',
  'ClockSkewed',
  'NotARegistry',
]);

export interface MirroredCopy {
  readonly ref: string;
  readonly digest: string;
  /** Gets the content. */
  readonly storeDir: string;
}

/**
 * Reads a copy into a folder.
 *
 * @param remedy what else the user may do, as a step
 * @throws {CliError} with the code of the mirror's or the archive's error
 */
export async function readMirrored(
  { ref, digest, storeDir }: MirroredCopy,
  values: MirrorValues & SizeLimits,
  remedy: string,
  context: CliContext,
): Promise<BundleIndex> {
  const { mirrorWorker, progress, signal } = context;
  const access = await readMirrorAccess(values);
  const request = { ref, digest, access, storeDir, limits: commandLimitsOf(values), keepsHiddenFiles: true };
  progress.phase('Reading the copy in the mirror');
  try {
    return await indexOf((options) => restoreInWorker(mirrorWorker, request, options), context, signal);
  } catch (error) {
    throw signal.aborted ? error : unreadable(error, remedy);
  } finally {
    progress.end();
  }
}

function unreadable(cause: unknown, remedy: string): unknown {
  if (!(cause instanceof PublishableError) || cause instanceof CliError) return cause;
  const { outcome, code, message } = failureOf(cause);
  const next = ['Check --mirror-credentials, --mirror-endpoint and --mirror-path-style.', remedy];
  const whose = lasting.has(code) ? 'usage' : outcome;
  return new CliError(whose, code, message, { cause, next });
}
