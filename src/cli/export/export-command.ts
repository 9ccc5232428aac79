// `export DOMAIN`: the whole loop once, without a cluster. Composes key, state, clients, gates and destinations.
// Invariant: what is written was checked, and passed the promotion gates; the old version stays otherwise.

import { join, resolve } from 'node:path';
import { removeQuietly } from '#bundle/store/store-disk.ts';
import { createExportApiClient } from '#export-api/client.ts';
import { measureTimes } from '#operator/reconcile/link-timing.ts';
import { judge } from '#operator/reconcile/settle/promotion.ts';
import { openCaFile } from '#platform/http/ca-certificates.ts';
import { requireProxySettings } from '#platform/http/proxy-settings.ts';
import { RenewedAgent } from '#platform/http/renewed-agent.ts';
import { userAgent } from '#platform/runtime/version.ts';
import { printable } from '#platform/wire/printable-text.ts';
import { describeKeyPrefix, type KeyFlags, readKey } from '../api-key.ts';
import { contentWarnings, warningLines } from '../bundle/inspect.ts';
import { readIndex, type SizeLimits } from '../bundle/reading.ts';
import { CliError, failureOf } from '../cli-error.ts';
import type { CliContext } from '../context.ts';
import { stopped } from '../folder/run-end.ts';
import { namedPath } from '../output/destination.ts';
import { marked } from '../output/paint.ts';
import { markedLine } from '../output/screen.ts';
import { admitDestination } from '../publish/admit.ts';
import { type DestinationWrite, isPlaced, placeOf, writeAll, writePlace } from '../publish/destinations.ts';
import { downloadInto, placeIndex } from '../publish/published.ts';
import { placedFiles } from '../publish/site-writer.ts';
import {
  defaultStatePath,
  openStateFolder,
  type StateFolder,
  workFolderName,
} from '../publish/state-folder.ts';
import {
  admitLinkFile,
  admitValues,
  holdsVersion,
  writeLinkFile,
  writeValues,
} from '../publish/values-file.ts';
import type { ExportAnswer } from './documents.ts';
import { heldExport, lastAttempt, resuming, withSteps } from './export-failure.ts';
import { type CompleteExport, type ExportDependencies, exportSite } from './export-job.ts';

export interface ExportValues extends KeyFlags, SizeLimits {
  readonly apiBaseUrl: string;
  readonly to: string | undefined;
  readonly replace: boolean;
  readonly values: string | undefined;
  readonly linkFile: string | undefined;
  readonly minPages: number;
  readonly allowMissingHomePage: boolean;
  readonly maxShrink: number;
  readonly baseline: string | undefined;
  readonly timeout: number;
  readonly requestTimeout: number;
  readonly state: string | undefined;
  readonly new: boolean;
  readonly unchangedExitCode: number | undefined;
  readonly allowPrivateLinks: boolean;
  readonly extraCaFile: string | undefined;
}

/** A run that ended at its deadline is continued; the next night's export is a new one. */
const shortestContinueMs = 6 * 3_600_000;

/** What an export is compared with. */
interface Baseline {
  readonly digest: string;
  readonly pages: number;
}

export async function runExport(
  values: ExportValues,
  [domain = '']: readonly string[],
  context: CliContext,
): Promise<ExportAnswer> {
  const request = { domain: readDomain(domain), baseUrl: values.apiBaseUrl };
  const key = await readKey(values, context);
  const keyHint = describeKeyPrefix(key);
  const state = await openStateFolder(values.state ?? defaultStatePath(request, context.env));
  const endsAt = context.clock.monotonic() + values.timeout;
  const signal = context.clock.deadline(values.timeout, context.signal);
  const workDir = join(state.path, workFolderName);
  try {
    await removeQuietly(workDir);
    await admitAll(values, state);
    const baseline = await readBaseline(values, request.domain, state, context);
    const { dependencies, close } = await connect(values, key, workDir, state, context);
    const continueWithinMs = Math.max(values.timeout, shortestContinueMs);
    const complete = await exportSite(
      { ...request, continueWithinMs, endsAt, isNew: values.new },
      dependencies,
      signal,
    ).finally(close);
    return await publish(complete, request, baseline, values, { workDir, state }, context, signal).catch(
      (error: unknown) => {
        // Whether a gate held it or a destination failed, a pipeline learns what was exported.
        const { digest, pages } = complete.index;
        throw error instanceof CliError ? error.knowing({ digest, pages }) : error;
      },
    );
  } catch (error) {
    if (!signal.aborted) throw withSteps(error, keyHint);
    const { reason } = context.signal;
    const { current } = state.state;
    throw stopped(error, {
      reason: context.signal.aborted && reason instanceof CliError ? reason : undefined,
      timeoutMs: values.timeout,
      lastFailure: lastAttempt(error, keyHint),
      resume: current === undefined ? [] : [resuming(values, current.jobId)],
    });
  } finally {
    await removeQuietly(workDir);
    state.close();
  }
}

/** RFC 1123 host name. */
function readDomain(text: string): string {
  const domain = text.toLowerCase();
  if (/^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/.test(domain))
    return domain;
  throw new CliError(
    'usage',
    'InvalidDomain',
    'DOMAIN must be a host name such as docs.example.com, without https:// and path',
  );
}

/** Each destination, before a job is started. */
async function admitAll(given: ExportValues, state: StateFolder): Promise<void> {
  const { to, values, linkFile, replace } = given;
  if (values !== undefined) await admitValues(values);
  if (linkFile !== undefined)
    await admitLinkFile(linkFile, {
      '--values': values,
      '--key-file': given.keyFile,
      '--baseline': given.baseline,
      '--extra-ca-file': given.extraCaFile,
    });
  if (to === undefined) return;
  const place = placeOf(state, resolve(to), namedPath('--to', to), replace);
  await admitDestination(to, place, [state.path, '.', values, linkFile]);
}

async function readBaseline(
  values: ExportValues,
  domain: string,
  { state }: StateFolder,
  context: CliContext,
): Promise<Baseline | undefined> {
  const { last } = state;
  const own = last?.domain === domain && last.baseUrl === values.apiBaseUrl ? last : undefined;
  if (values.baseline === undefined) return own;
  return readIndex(values.baseline, values, context).catch((error: unknown) => {
    const { outcome, code, message, next } = failureOf(error);
    // A rejected baseline is no verdict about the export.
    if (outcome !== 'usage' && outcome !== 'archiveRejected') throw error;
    throw new CliError('usage', code, `--baseline cannot be compared with: ${message}`, {
      cause: error,
      next,
    });
  });
}

async function connect(
  values: ExportValues,
  key: string,
  workDir: string,
  state: StateFolder,
  context: CliContext,
): Promise<{ readonly dependencies: ExportDependencies; readonly close: () => Promise<void> }> {
  const { clock, random, progress, env } = context;
  const { extraCaFile, requestTimeout: timeoutMs } = values;
  const authorities = await openCaFile(extraCaFile, () => {});
  const extraCaPem = await authorities.current();
  const proxy = requireProxySettings(env);
  // The user chooses the export API's address, which may be on a private network.
  const agent = new RenewedAgent(
    { proxy, idleTimeoutMs: timeoutMs, connections: 1, allowPrivateAddresses: true },
    extraCaPem,
  );
  const api = createExportApiClient({
    clock,
    timeoutMs,
    userAgent,
    baseUrl: values.apiBaseUrl,
    key,
    agent,
  });
  const prepare: ExportDependencies['prepare'] = (link, signal) =>
    downloadInto(link, undefined, { ...values, workDir }, context, signal);
  return { dependencies: { api, state, clock, random, progress, prepare }, close: () => agent.destroy() };
}

/** What passes the gates is written, and then remembered as the last export. */
async function publish(
  complete: CompleteExport,
  request: { readonly domain: string; readonly baseUrl: string },
  baseline: Baseline | undefined,
  values: ExportValues,
  { workDir, state }: { readonly workDir: string; readonly state: StateFolder },
  { progress }: CliContext,
  signal: AbortSignal,
): Promise<ExportAnswer> {
  const { jobId, index } = complete;
  const { digest, pages, sizeBytes, files, notes } = index;
  const rules = {
    isInspected: true,
    minPages: values.minPages,
    needsHomePage: !values.allowMissingHomePage,
    maxShrinkPercent: values.maxShrink,
    maxBundleBytes: undefined,
    isManual: false,
  };
  const judgement = judge({ digest, pages, notes }, baseline, rules, false);
  if (judgement.kind === 'hold') throw heldExport(judgement.reason, complete, baseline?.pages, values);
  const isChanged = judgement.kind === 'promote';
  const { last } = state.state;
  // The same content keeps its version, as the operator does.
  const version = last?.digest === digest ? last.version : complete.version;
  const { to } = values;
  const path = to === undefined ? undefined : resolve(to);
  const isPlacedNow = path !== undefined && (await isPlaced(state, path, digest, signal));
  const hasVersion = values.values !== undefined && (await holdsVersion(values.values, version));
  const isDue =
    (path !== undefined && !isPlacedNow) ||
    (values.values !== undefined && !hasVersion) ||
    values.linkFile !== undefined;
  // The same content was published under other limits, and these are about what is written now.
  const now = isDue ? judge({ pages, notes }, undefined, rules, false) : judgement;
  if (now.kind === 'hold') throw heldExport(now.reason, complete, baseline?.pages, values);
  const writes: readonly (DestinationWrite | undefined)[] = [
    path === undefined
      ? undefined
      : {
          name: '--to',
          write: async () => {
            if (isPlacedNow) return;
            const place = placeOf(state, path, namedPath('--to', to ?? ''), values.replace);
            const write = () => placeIndex(index, place, workDir, { progress }, signal);
            await writePlace(state, place, { digest, files: placedFiles(index, path) }, write, signal);
          },
        },
    values.values === undefined
      ? undefined
      : { name: '--values', write: () => writeValues(values.values ?? '', version) },
    values.linkFile === undefined
      ? undefined
      : { name: '--link-file', write: () => writeLink(values.linkFile ?? '', complete, version) },
  ];
  progress.phase('Writing');
  const next = [resuming(values, jobId)];
  await writeAll(
    writes.filter((one) => one !== undefined),
    { version, next },
    signal,
  );
  await state.write({
    ...state.state,
    current: undefined,
    last: { ...request, jobId, version, digest, pages },
  });
  return {
    outcome: 'done',
    ...(!isChanged && values.unchangedExitCode !== undefined && { exitCode: values.unchangedExitCode }),
    kind: 'ExportResult',
    fields: {
      domain: request.domain,
      jobId,
      changed: isChanged,
      ...{ version, digest, pages, files: files.length, sizeBytes },
      ...(path !== undefined && { path }),
      written: [
        ...(path !== undefined && !isPlacedNow ? ['--to'] : []),
        ...(values.values !== undefined && !hasVersion ? ['--values'] : []),
        ...(values.linkFile !== undefined ? ['--link-file'] : []),
      ],
    },
    lines: [
      markedLine(
        isChanged ? marked('Exported', 'good') : marked('Unchanged:', 'quiet'),
        ` ${request.domain}${isChanged ? '' : ' has the same content as before'}`,
      ),
      `Version: ${version}`,
      `Digest:  ${digest}`,
      `Pages:   ${pages}`,
      ...(to === undefined ? [] : [`${isPlacedNow ? 'Unchanged' : 'Written'}: ${printable(to)}`]),
      ...(values.values === undefined
        ? []
        : [`${hasVersion ? 'Unchanged' : 'Written'}: ${printable(values.values)}`]),
      ...(values.linkFile === undefined ? [] : [`Written: ${printable(values.linkFile)}`]),
      ...warningLines(index),
    ],
    findings: contentWarnings(index),
  };
}

async function writeLink(
  path: string,
  { jobId, index: { digest, pages, sizeBytes }, issued, issuedAt }: CompleteExport,
  version: string,
): Promise<void> {
  const { link, serverDate, expiresAt } = issued;
  const signed = link.signedLifetime();
  const times = measureTimes({ sentAt: issuedAt, serverDate, claimedExpiresAt: expiresAt, signed });
  const content = { version, digest, jobId, pages, sizeBytes, ref: undefined };
  await writeLinkFile(path, { ...content, link: { ...times, url: link } });
}
