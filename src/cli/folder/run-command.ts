// `run -f FILE`: the operator's own reconcile over a folder instead of a cluster, until it is stopped, or once. Each new
// version goes to the destinations beside it (publisher.ts). Owns the loop and the lock on the state folder. Refuses:
// deciding anything; the reconcile decides.

import { join } from 'node:path';
import { readProxySettings } from '../../bundle/fetch/proxy-settings.ts';
import { type PublishedBundle, parsePublishedBundle } from '../../bundle/published-bundle.ts';
import type { ReconcileContext } from '../../loop/context.ts';
import { createMemory } from '../../loop/memory.ts';
import { type Events, noGitTargets } from '../../loop/ports.ts';
import { reconcile } from '../../loop/reconcile.ts';
import { ReconcileRefused } from '../../loop/refused-reconcile.ts';
import { withoutRetry } from '../../reconcile/status/failure-words.ts';
import { readBounded } from '../../runtime/bounded-file.ts';
import { openExternalServices } from '../../services/external-services.ts';
import { annotations, defaultOutputName, outputKeys } from '../../staticexport/names.ts';
import { parseStaticExport } from '../../staticexport/parse.ts';
import type { Status } from '../../staticexport/status-schema.ts';
import { ClusterError } from '../../wire/cluster-error.ts';
import { publishableCode } from '../../wire/publishable-error.ts';
import { CliError, failureOf } from '../cli-error.ts';
import type { CliContext, CommandResult } from '../context.ts';
import { openStateFolder, type StateFolder } from '../export/export-state.ts';
import { privateLinkMessage } from '../export/published.ts';
import { type RunOutcome, runOutcome } from '../run-outcome.ts';
import { type FolderCluster, noObjects, openFolderCluster } from './folder-cluster.ts';
import { holdSecrets, keySourceOf, type SecretFile } from './key-secret.ts';
import { longestManifest, type Manifest, readManifest } from './manifest.ts';
import { createPlainLog } from './plain-log.ts';
import { admitAll, type PublishOptions, publish, publishLink } from './publish.ts';
import { createPublisher, type Publishing } from './publisher.ts';
import { requestToken } from './request-token.ts';
import { inRunWords } from './run-words.ts';

export interface RunValues extends PublishOptions {
  readonly file: string;
  readonly once: boolean;
  readonly request: boolean;
  readonly state: string;
  readonly secret: readonly SecretFile[];
  readonly apiBaseUrl: string | undefined;
  readonly allowedApiHosts: readonly string[];
  readonly timeout: number;
  readonly requestTimeout: number;
  readonly inspectTimeout: number;
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
    await admitAll(values, state);
    const cluster = await openFolderCluster(join(state.path, 'objects'), context.random);
    await holdSecrets(manifest, values.secret, cluster);
    const stored = await cluster.readStaticExport(manifest.key, context.signal);
    const token = values.request
      ? { [annotations.requestedAt]: requestToken(stored, context.clock.now()) }
      : {};
    await cluster.applyManifest({ ...manifest, annotations: { ...manifest.annotations, ...token } });
    return await runLoop(manifest, values, cluster, state, context);
  } finally {
    state.close();
  }
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

async function runLoop(
  manifest: Manifest,
  values: RunValues,
  cluster: FolderCluster,
  state: StateFolder,
  context: CliContext,
): Promise<CommandResult> {
  const { clock, random, progress } = context;
  const { key, spec } = manifest;
  const keySource = keySourceOf(manifest, values.secret);
  const note = (line: string, level?: 'warning'): void => progress.note(inRunWords(line, keySource), level);
  const logger = createPlainLog((line) => note(line, 'warning'));
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
      note(`${type} ${reason}: ${message}`, type === 'Warning' ? 'warning' : undefined),
  };
  const own: ReconcileContext = {
    ...services,
    cluster,
    objects: noObjects,
    git: noGitTargets,
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
  const onEnd = (): void => woken.resolve();
  const publishers = publishingOf(values, state, context).map((one) =>
    createPublisher(one, { clock, progress, signal }, onEnd),
  );
  try {
    for (;;) {
      woken = Promise.withResolvers();
      const waitMs = await reconcileOnce(key, own, signal);
      const published = await readPublished(cluster, { ...key, name: outputName });
      if (published !== undefined) for (const one of publishers) one.aim(published);
      const isWorking = publishers.some((one) => one.isWorking());
      const failure = publishers.map((one) => one.failure()).find((one) => one !== undefined);
      if (failure !== undefined && !isWorking && isFinal(failure, values)) throw failure;
      const object = await cluster.readStaticExport(key, signal);
      const { status } = parseStaticExport({ spec, status: object?.status });
      const ended = refusedLink(status, values) ?? runOutcome(status, object?.metadata.generation ?? 0);
      const isPublished = published === undefined || publishers.every((one) => one.isDone());
      // After a link that was due, a request still waits for its start.
      const isDue = waitMs === 0;
      if (values.once && isPublished && !isDue && ended !== undefined)
        return resultOf(
          { ...ended, message: inRunWords(withoutRetry(ended.message), keySource) },
          published,
          values,
        );
      if (!isWorking)
        progress.phase(status.job?.state === undefined ? 'Waiting' : `Export job ${status.job.state}`);
      const stop = new AbortController();
      const until = AbortSignal.any([signal, stop.signal]);
      const pauseMs = Math.min(
        waitMs ?? failedWaitMs,
        longestWaitMs,
        ...(published === undefined ? [] : publishers.map((one) => one.waitMs())),
      );
      await Promise.race([woken.promise, clock.after(pauseMs, until)]);
      stop.abort();
      signal.throwIfAborted();
    }
  } catch (error) {
    throw signal.aborted ? stopReason(error, values, context) : error;
  } finally {
    await Promise.all(publishers.map((one) => one.close()));
    await services.close();
  }
}

/** The link file waits for no archive: servers need each new link soon. */
function publishingOf(values: RunValues, state: StateFolder, context: CliContext): readonly Publishing[] {
  const timeoutMs = values.inspectTimeout;
  return [
    {
      publish: (bundle, signal) => publishLink(bundle, values, signal),
      goalOf: ({ version, issuedAt }) => `${version} ${issuedAt}`,
      timeoutMs,
    },
    {
      publish: (bundle, signal) => publish(bundle, values, state, context, signal),
      goalOf: ({ version, digest }) => `${version} ${digest ?? ''}`,
      timeoutMs,
    },
  ];
}

/** A run goes on after any failure but a bug; with --once, only after one that may pass. */
function isFinal(failure: CliError, { once }: RunValues): boolean {
  const { outcome, retryable } = failureOf(failure);
  return outcome === 'bug' || (once && !retryable);
}

/** The operator tries again, because its network may change. Here only another flag helps. */
function refusedLink(
  { failures }: Status,
  { allowPrivateLinks }: Pick<RunValues, 'allowPrivateLinks'>,
): RunOutcome | undefined {
  const failure = failures?.poll;
  if (failure?.reason !== 'PrivateLink' || allowPrivateLinks) return undefined;
  return { outcome: 'usage', code: failure.reason, message: privateLinkMessage };
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

function resultOf(
  { outcome, code, message }: RunOutcome,
  published: PublishedBundle | undefined,
  { publish: paths }: RunValues,
): CommandResult {
  const { version, digest, pages } = published ?? {};
  if (outcome !== 'done') throw new CliError(outcome, code, message, { version });
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
