// `run -f FILE`: the operator's own reconcile over a folder instead of a cluster, until it is stopped, or once. Opens the
// state folder and the services that the loop (run-loop.ts) needs, and closes them. Owns the lock on the state folder.
// Refuses: a destination that cannot be written, before anything starts.

import { join } from 'node:path';
import { createMemory } from '#operator/loop/memory.ts';
import { noNotices } from '#operator/loop/ports.ts';
import { openExternalServices } from '#operator/services/external-services.ts';
import { createGitPusher, gitSettings } from '#operator/services/git-pusher.ts';
import { createGitTargets } from '#operator/services/git-targets.ts';
import { annotations } from '#operator/staticexport/names.ts';
import { requireProxySettings } from '#platform/http/proxy-settings.ts';
import { readBounded } from '#platform/runtime/bounded-file.ts';
import type { EventNote } from '#platform/wire/cluster.ts';
import { readHttpOrigin, readOriginEntry } from '#platform/wire/http-origin.ts';
import { publishableCode } from '#platform/wire/publishable-error.ts';
import { CliError, failureOf } from '../cli-error.ts';
import type { CliContext } from '../context.ts';
import { admitAll, namesOf, type PublishOptions, publish, publishLink } from '../publish/publish.ts';
import type { Publishing } from '../publish/publisher.ts';
import { openStateFolder, type StateFolder } from '../publish/state-folder.ts';
import type { RunAnswer } from './documents.ts';
import { type FolderCluster, noObjects, openFolderCluster } from './folder-cluster.ts';
import { watchGitTargets } from './git-destination.ts';
import { longestManifest, type Manifest, readManifest } from './manifest.ts';
import { createPlainLog } from './plain-log.ts';
import { requestToken } from './request-token.ts';
import { stepsAfter } from './run-end.ts';
import { createRunEvents } from './run-events.ts';
import { createWaker, type RunEnd, runLoop } from './run-loop.ts';
import { holdSecrets, type KeySource, keySourceOf, type SecretFile } from './run-secrets.ts';

export interface RunValues extends PublishOptions {
  readonly file: string;
  readonly once: boolean;
  readonly request: boolean;
  readonly state: string;
  readonly secret: readonly SecretFile[];
  readonly apiBaseUrl: string | undefined;
  readonly allowedApiHosts: readonly string[];
  readonly allowedGitHosts: readonly string[];
  readonly allowedMirrorHosts: readonly string[];
  readonly allowPrivateMirrorHosts: boolean;
  readonly timeout: number;
  readonly requestTimeout: number;
  readonly inspectTimeout: number;
}

export async function runManifest(
  values: RunValues,
  _args: readonly string[],
  context: CliContext,
): Promise<RunAnswer> {
  const manifest = await readManifestFile(values.file);
  requireGitHosts(manifest, values);
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
    return await runOver(manifest, values, cluster, state, context);
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

async function runOver(
  manifest: Manifest,
  values: RunValues,
  cluster: FolderCluster,
  state: StateFolder,
  context: CliContext,
): Promise<RunAnswer> {
  const { clock, random, progress } = context;
  const { key, spec } = manifest;
  const keySource = keySourceOf(manifest, values.secret);
  const events = createRunEvents((line, level) => progress.note(line, level));
  const logger = createPlainLog((line) => progress.note(line, 'warning'));
  const signal = values.once ? clock.deadline(values.timeout, context.signal) : context.signal;
  const services = await openExternalServices(
    {
      ...values,
      requestTimeoutMs: values.requestTimeout,
      maxArchiveBytes: values.maxArchiveSize,
      maxBundleBytes: values.maxBundleSize,
      callsAtOnce: 2,
      proxy: requireProxySettings(context.env),
      bundleWorker: context.bundleWorker,
      valuesWorker: context.valuesWorker,
      mirrorWorker: context.mirrorWorker,
      mirrors: {
        allowedHosts: values.allowedMirrorHosts,
        allowPrivateHosts: values.allowPrivateMirrorHosts,
        defaultMirror: undefined,
      },
    },
    { clock, random, logger },
  );
  const waker = createWaker();
  // Repositories are read again minutes later, which no longer concerns a run that has ended.
  const ended = new AbortController();
  const pusher = createGitPusher(context.gitWorker, clock);
  const git = watchGitTargets(
    createGitTargets({
      ...{ clock, random, pusher },
      signal: AbortSignal.any([signal, ended.signal]),
      settings: async () => gitSettings(values.allowPrivateLinks, await services.extraCaPem()),
      allowedHosts: values.allowedGitHosts,
      readSecret: cluster.readSecret,
      wake: () => waker.wake(),
      observe: () => {},
    }),
  );
  const reconcileContext = {
    ...services,
    ...{ cluster, clock, random, logger },
    objects: noObjects,
    git: git.port,
    events: {
      record: (_object: unknown, event: EventNote) => events.record(event),
    },
    notices: noNotices,
    wake: () => waker.wake(),
    isKnown: () => true,
    settings: {
      operatorLease: 'static-export/run',
      apiBaseUrl: values.apiBaseUrl,
      allowedApiHosts: values.allowedApiHosts,
      requestTimeoutMs: values.requestTimeout,
      inspectTimeoutMs: values.inspectTimeout,
      saysNext: false,
    },
    memory: createMemory(signal),
  };
  const publishings = publishingsOf(values, state, context);
  const loop = {
    ...values,
    ...{ key, spec, cluster, reconcileContext, waker, publishings, git },
    showEvents: () => events.show(),
  };
  try {
    const result = resultOf(await runLoop(loop, context, signal), values, keySource);
    events.show();
    return result;
  } catch (error) {
    events.end(failureOf(error).message);
    throw error;
  } finally {
    ended.abort();
    await Promise.all([services.close(), pusher.close()]);
  }
}

/** The link file waits for no archive: servers need each new link soon. */
function publishingsOf(values: RunValues, state: StateFolder, context: CliContext): readonly Publishing[] {
  const timeoutMs = values.inspectTimeout;
  const { links, contents } = namesOf(values);
  return [
    {
      names: links,
      publish: (bundle, signal) => publishLink(bundle, values, signal),
      goalOf: ({ version, link }) => `${version} ${link?.issuedAt ?? ''}`,
      timeoutMs,
    },
    {
      names: contents,
      publish: (bundle, signal) => publish(bundle, values, state, context, signal),
      goalOf: ({ version, digest }) => `${version} ${digest ?? ''}`,
      timeoutMs,
    },
  ];
}

function resultOf(
  { ended: { outcome, code, message }, status: { targets }, published }: RunEnd,
  { publish: paths }: RunValues,
  keySource: KeySource,
): RunAnswer {
  const { version, digest, pages } = published ?? {};
  if (outcome !== 'done')
    throw new CliError(outcome, code, message, { version, next: stepsAfter(code, keySource) });
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
