// `run -f FILE`: the operator's own reconcile over a folder instead of a cluster, until it is stopped, or once. Composes
// manifest, Secrets and destinations. Owns the lock on the state folder. Refuses: a destination that cannot be written,
// before anything starts.

import { join } from 'node:path';
import type { PublishedBundle } from '#bundle/published-bundle.ts';
import { removeQuietly } from '#bundle/store/store-disk.ts';
import { annotations } from '#operator/staticexport/names.ts';
import { readBounded } from '#platform/runtime/bounded-file.ts';
import { readHttpOrigin, readOriginEntry } from '#platform/wire/http-origin.ts';
import type { Link } from '#platform/wire/link.ts';
import { printable } from '#platform/wire/printable-text.ts';
import { publishableCode } from '#platform/wire/publishable-error.ts';
import { isArchiveName } from '../bundle/archive-names.ts';
import { CliError } from '../cli-error.ts';
import type { CliContext } from '../context.ts';
import { admitAll, type ContentSource, type Destinations, publishingsOf } from '../publish/publish.ts';
import { downloadInto, type KeptDownloadOptions } from '../publish/published.ts';
import { openStateFolder, type StateFolder, workFolderName } from '../publish/state-folder.ts';
import type { RunAnswer } from './documents.ts';
import { openFolderCluster } from './folder-cluster.ts';
import { type RunHosts, runOverFolder } from './folder-run.ts';
import { longestManifest, type Manifest, readManifest } from './manifest.ts';
import { requestToken } from './request-token.ts';
import { stepsAfter } from './run-end.ts';
import type { RunEnd } from './run-loop.ts';
import { holdSecrets, keySourceOf, type SecretFile } from './run-secrets.ts';

export interface RunValues extends Omit<KeptDownloadOptions, 'workDir'>, RunHosts {
  /** Paths of folders and archives. */
  readonly publish: readonly string[];
  readonly values: string | undefined;
  readonly linkFile: string | undefined;
  readonly file: string;
  readonly once: boolean;
  readonly request: boolean;
  readonly state: string;
  readonly secret: readonly SecretFile[];
  readonly apiBaseUrl: string | undefined;
  readonly timeout: number;
  readonly requestTimeout: number;
  readonly inspectTimeout: number;
  readonly startsPerHour: number;
}

export async function runManifest(
  values: RunValues,
  _args: readonly string[],
  context: CliContext,
): Promise<RunAnswer> {
  const signal = values.once ? context.clock.deadline(values.timeout, context.signal) : context.signal;
  const manifest = await readManifestFile(values.file);
  requireGitHosts(manifest, values);
  const state = await openStateFolder(values.state);
  try {
    const destinations = destinationsOf(values);
    await admitAll(destinations, { '--extra-ca-file': values.extraCaFile }, state);
    const cluster = await openFolderCluster(join(state.path, 'objects'), context.random);
    await holdSecrets(manifest, values.secret, cluster);
    const stored = await cluster.readStaticExport(manifest.key, context.signal);
    const token = values.request
      ? { [annotations.requestedAt]: requestToken(stored, context.clock.now()) }
      : {};
    await cluster.applyManifest({ ...manifest, annotations: { ...manifest.annotations, ...token } });
    const { key, spec } = manifest;
    const source = downloading(values, state, context);
    const publishings = publishingsOf(destinations, source, values.inspectTimeout, state, context);
    const run = { ...values, key, spec, publishings: publishings };
    return await runOverFolder(
      { ...run, resume: () => ['Run the same command again to continue.'] },
      cluster,
      (end) => resultOf(end, values, manifest),
      context,
      signal,
    );
  } finally {
    state.close();
  }
}

/** Before anything starts, because each host gets the credentials of its target. */
function requireGitHosts({ gitTargets }: Manifest, { allowedGitHosts }: RunValues): void {
  const allowed = allowedGitHosts.map(readOriginEntry);
  const refused = gitTargets.find(({ url }) => !allowed.includes(readHttpOrigin(url)));
  if (refused === undefined) return;
  const { host } = new URL(refused.url);
  const message = `--allowed-git-hosts does not allow git target ${refused.name}. Add ${host} if it may get Secret ${refused.secretName}`;
  throw new CliError('usage', 'HostNotAllowed', message);
}

async function readManifestFile(path: string): Promise<Manifest> {
  const text = await readBounded(path, longestManifest).catch((cause: unknown) => {
    const message = `-f cannot be read (${publishableCode(cause)}); check its path and permissions`;
    throw new CliError('usage', 'ManifestUnreadable', message, { cause });
  });
  if (text === undefined)
    throw new CliError('usage', 'ManifestInvalid', 'the manifest is longer than 1 MiB; split it');
  return readManifest(text);
}

function destinationsOf({ publish, values, linkFile }: RunValues): Destinations {
  const places = publish.map((to) => {
    const name = `--publish ${isArchiveName(to) ? 'archive' : 'dir'}=${printable(to)}`;
    return { to, flag: name, name, isReplaced: undefined };
  });
  return { places, values, linkFile };
}

/** Downloads a version whenever a folder or an archive lacks it, and keeps nothing afterwards. */
function downloading(values: RunValues, state: StateFolder, context: CliContext): ContentSource {
  const workDir = join(state.path, workFolderName);
  return {
    workDir,
    obtain: async (bundle, signal) => {
      context.progress.phase('Downloading and checking');
      return downloadInto(linkOf(bundle), bundle.digest, { ...values, workDir }, context, signal);
    },
    release: () => removeQuietly(workDir),
    admit: () => {},
  };
}

/** The manifest refuses to publish without links. */
function linkOf({ link }: PublishedBundle): Link {
  if (link === undefined) throw new TypeError('a run publishes a link');
  return link.url;
}

function resultOf(
  { ended: { outcome, code, message }, status, published }: RunEnd,
  { publish: paths, secret }: RunValues,
  manifest: Manifest,
): RunAnswer {
  const { version, digest, pages } = published ?? {};
  if (outcome !== 'done') {
    const missing = `Add --secret ${manifest.keySecret.name}=FILE, or put the Secret into the manifest.`;
    const rules = { keySource: keySourceOf(manifest, secret), spec: manifest.spec };
    const next = code === 'KeyMissing' ? [missing] : stepsAfter(code, status, rules);
    throw new CliError(outcome, code, message, { version, next });
  }
  const { targets } = status;
  return {
    outcome,
    kind: 'RunResult',
    fields: {
      ...{ version, digest, pages, paths },
      ...(targets !== undefined && {
        targets: targets.map(({ name, object, synced, reason, message: detail }) => ({
          ...{ name, object, synced, reason },
          ...(detail !== undefined && { message: detail }),
        })),
      }),
    },
    lines: [
      message,
      `Version: ${version ?? 'none'}`,
      ...paths.map((path) => `Written: ${path}`),
      ...(targets ?? []).map((one) => `Target:  ${one.name}, ${one.message ?? one.reason}`),
    ],
  };
}
