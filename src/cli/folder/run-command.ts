// `run -f FILE`: the operator's own reconcile over a folder instead of a cluster, until it is stopped, or once. Each new
// version is downloaded, checked against the published digest, and written where `--publish` says. Owns the loop and the
// lock on the state folder. Refuses: deciding anything; the reconcile decides.

import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { readProxySettings } from '../../bundle/fetch/proxy-settings.ts';
import { type PublishedBundle, parsePublishedBundle } from '../../bundle/published-bundle.ts';
import type { ReconcileContext } from '../../loop/context.ts';
import { createMemory } from '../../loop/memory.ts';
import type { Events } from '../../loop/ports.ts';
import { reconcile } from '../../loop/reconcile.ts';
import { ReconcileRefused } from '../../loop/refused-reconcile.ts';
import { createLogger } from '../../runtime/logger.ts';
import { openExternalServices } from '../../services/external-services.ts';
import { defaultOutputName, defaultSecretKey, outputKeys } from '../../staticexport/names.ts';
import { parseStaticExport } from '../../staticexport/parse.ts';
import { ClusterError } from '../../wire/cluster-error.ts';
import { publishableCode } from '../../wire/publishable-error.ts';
import type { SizeLimits } from '../bundle/reading.ts';
import { CliError, failureOf } from '../cli-error.ts';
import type { CliContext, CommandResult } from '../context.ts';
import {
  claimDestinations,
  noteDestinations,
  openStateFolder,
  placementOf,
  type StateFolder,
  workFolderName,
} from '../export/export-state.ts';
import { admitDestination, writeLinkFile, writeValues } from '../export/place.ts';
import { placePublished } from '../export/published.ts';
import { isThere } from '../output/destination.ts';
import { type RunOutcome, runOutcome } from '../run-outcome.ts';
import { type FolderCluster, openFolderCluster } from './folder-cluster.ts';
import { type Manifest, readManifest } from './manifest.ts';

export interface RunValues extends SizeLimits {
  readonly file: string;
  readonly once: boolean;
  readonly request: boolean;
  readonly state: string;
  /** Absolute paths. */
  readonly publish: readonly string[];
  readonly values: string | undefined;
  readonly linkFile: string | undefined;
  readonly secret: readonly { readonly name: string; readonly path: string }[];
  readonly apiBaseUrl: string | undefined;
  readonly allowedApiHosts: readonly string[];
  readonly timeout: number;
  readonly requestTimeout: number;
  readonly inspectTimeout: number;
  readonly allowPrivateLinks: boolean;
  readonly extraCaFile: string | undefined;
}

/** After a reconcile that failed; the folder's faults are rarely brief. */
const failedWaitMs = 10_000;
/** A schedule and a clock that is set are looked at again. */
const longestWaitMs = 3_600_000;

export async function runManifest(
  values: RunValues,
  _args: readonly string[],
  context: CliContext,
): Promise<CommandResult> {
  const manifest = await readManifestFile(values.file);
  const state = await openStateFolder(values.state);
  try {
    for (const to of values.publish) {
      await admitDestination(to, placementOf(state, resolve(to), false), [state.path, '.']);
    }
    const cluster = await openFolderCluster(join(state.path, 'objects'), context.random);
    await holdSecrets(manifest, values, cluster);
    const token = values.request
      ? { 'staticexport.dev/requestedAt': new Date(context.clock.now()).toISOString() }
      : {};
    await cluster.applyManifest({ ...manifest, annotations: { ...manifest.annotations, ...token } });
    return await runLoop(manifest, values, cluster, state, context);
  } finally {
    state.close();
  }
}

async function readManifestFile(path: string): Promise<Manifest> {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    const message = `-f cannot be read (${publishableCode(cause)}); check its path and permissions`;
    throw new CliError('usage', 'ManifestUnreadable', message, { cause });
  });
  return readManifest(text);
}

async function holdSecrets(
  { key: { namespace }, secrets }: Manifest,
  { secret }: RunValues,
  cluster: FolderCluster,
): Promise<void> {
  for (const [name, data] of secrets) cluster.holdSecret({ namespace, name }, data);
  for (const { name, path } of secret) {
    const bytes = await readFile(path).catch((cause: unknown) => {
      const message = `the file of --secret ${name} cannot be read (${publishableCode(cause)}); check its path and permissions`;
      throw new CliError('key', 'KeyUnreadable', message, { cause });
    });
    cluster.holdSecret(
      { namespace, name },
      { [defaultSecretKey]: Buffer.from(bytes.toString('utf8').trim()) },
    );
  }
}

async function runLoop(
  { key, spec }: Manifest,
  values: RunValues,
  cluster: FolderCluster,
  state: StateFolder,
  context: CliContext,
): Promise<CommandResult> {
  const { clock, random, progress } = context;
  const logger = createLogger('warn', (line) => progress.note(line.trimEnd()));
  const signal = values.once ? clock.deadline(values.timeout, context.signal) : context.signal;
  const services = await openExternalServices(
    {
      ...values,
      requestTimeoutMs: values.requestTimeout,
      maxArchiveBytes: values.maxArchiveSize,
      maxBundleBytes: values.maxBundleSize,
      callsAtOnce: 2,
      proxy: readProxySettings(context.env),
      bundleWorker: context.bundleWorker,
      valuesWorker: context.valuesWorker,
    },
    { clock, random, logger },
  );
  let woken = Promise.withResolvers<void>();
  const events: Events = {
    record: (_object, { type, reason, message }) =>
      progress.note(`${type} ${reason}: ${message}`, type === 'Warning' ? 'warning' : undefined),
  };
  const own: ReconcileContext = {
    ...services,
    cluster,
    clock,
    random,
    logger,
    events,
    wake: () => woken.resolve(),
    isKnown: () => true,
    settings: {
      operatorLease: 'static-export/run',
      apiBaseUrl: values.apiBaseUrl,
      allowedApiHosts: values.allowedApiHosts,
      requestTimeoutMs: values.requestTimeout,
      inspectTimeoutMs: values.inspectTimeout,
    },
    memory: createMemory(signal),
  };
  const outputName =
    parseStaticExport({ spec, status: {} }).spec?.output?.name ?? defaultOutputName(key.name);
  try {
    for (;;) {
      woken = Promise.withResolvers();
      const waitMs = await reconcileOnce(key, own, signal);
      const published = await readPublished(cluster, { ...key, name: outputName });
      const isPublished =
        published === undefined || (await publishOrRetry(published, values, state, context, signal));
      const object = await cluster.readStaticExport(key, signal);
      const status = parseStaticExport({ spec, status: object?.status }).status;
      const ended = runOutcome(status, object?.metadata.generation ?? 0);
      progress.phase(`${status.job?.state === undefined ? 'Waiting' : `Export job ${status.job.state}`}`);
      // After a link that was due, a request still waits for its start.
      const isDue = waitMs === 0;
      if (values.once && isPublished && !isDue && ended !== undefined)
        return resultOf(ended, published, values);
      const stop = new AbortController();
      const until = AbortSignal.any([signal, stop.signal]);
      const pauseMs = Math.min(waitMs ?? failedWaitMs, isPublished ? longestWaitMs : failedWaitMs);
      await Promise.race([woken.promise, clock.after(pauseMs, until)]);
      stop.abort();
      signal.throwIfAborted();
    }
  } catch (error) {
    throw signal.aborted ? stopReason(error, values, context) : error;
  } finally {
    await services.close();
  }
}

/** @returns ms until the next reconcile */
async function reconcileOnce(
  key: Manifest['key'],
  context: ReconcileContext,
  signal: AbortSignal,
): Promise<number | undefined> {
  try {
    return (await reconcile(key, context, signal)).wakeAfterMs;
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ClusterError || error instanceof ReconcileRefused)) throw error;
    context.logger.warn({ error }, 'reconcile failed');
    return failedWaitMs;
  }
}

async function readPublished(
  cluster: FolderCluster,
  key: Manifest['key'],
): Promise<PublishedBundle | undefined> {
  const secret = await cluster.readSecret(key, new AbortController().signal);
  const bytes = secret?.data[outputKeys.bundle];
  return bytes === undefined ? undefined : parsePublishedBundle(Buffer.from(bytes).toString('utf8'));
}

/** @returns false where it failed and is tried again: a full disk or a broken download must not end the refreshes */
async function publishOrRetry(
  bundle: PublishedBundle,
  values: RunValues,
  state: StateFolder,
  context: CliContext,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await publish(bundle, values, state, context, signal);
    return true;
  } catch (error) {
    signal.throwIfAborted();
    const failure = failureOf(error);
    if (failure.outcome === 'bug' || (values.once && !failure.retryable)) throw error;
    const seconds = failedWaitMs / 1000;
    context.progress.note(`${failure.message} (${failure.code}). Retrying in ${seconds} s`);
    return false;
  }
}

/** Writes what does not hold the published digest yet. */
async function publish(
  bundle: PublishedBundle,
  values: RunValues,
  state: StateFolder,
  context: CliContext,
  signal: AbortSignal,
): Promise<void> {
  // First: a folder that cannot be written must not keep a refreshed link from the servers.
  if (values.linkFile !== undefined) await writeLinkFile(values.linkFile, bundle);
  // Without an inspection there is no digest; the version names the content then.
  const mark = bundle.digest ?? bundle.version;
  const written = state.state.destinations ?? [];
  const isWritten = async (path: string): Promise<boolean> =>
    written.some((one) => one.path === path && one.digest === mark) && (await isThere(path));
  const missing: string[] = [];
  for (const path of values.publish.map((one) => resolve(one)))
    if (!(await isWritten(path))) missing.push(path);
  if (missing.length > 0) {
    const places = missing.map((path) => ({ path, ...placementOf(state, path, false) }));
    const absent = await Promise.all(missing.map(async (path) => !(await isThere(path))));
    await claimDestinations(
      state,
      missing.filter((_path, at) => absent[at] || places[at]?.mayReplace),
    );
    await placePublished(
      bundle,
      places,
      { ...values, workDir: join(state.path, workFolderName) },
      context,
      signal,
    );
    await noteDestinations(state, missing, mark);
  }
  if (values.values !== undefined) await writeValues(values.values, bundle.version);
}

function resultOf(
  { outcome, code, message }: RunOutcome,
  published: PublishedBundle | undefined,
  { publish: paths }: RunValues,
): CommandResult {
  if (outcome !== 'done') throw new CliError(outcome, code, message);
  const { version, digest, pages } = published ?? {};
  return {
    outcome,
    kind: 'RunResult',
    fields: { version, digest, pages, paths },
    lines: [message, `Version: ${version ?? 'none'}`, ...paths.map((path) => `Written: ${path}`)],
  };
}

function stopReason(error: unknown, { timeout, once }: RunValues, context: CliContext): unknown {
  const { reason } = context.signal;
  const next = ['Run the same command again to continue.'];
  if (context.signal.aborted && reason instanceof CliError) {
    return new CliError(reason.outcome, reason.code, reason.message, { cause: error, next });
  }
  if (!once) return error;
  const message = `--timeout has passed (${Math.round(timeout / 1000)} s)`;
  return new CliError('deadline', 'DeadlineExceeded', message, { cause: error, next });
}
