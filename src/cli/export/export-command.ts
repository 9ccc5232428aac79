// `export DOMAIN`: the whole loop once, without a cluster. Composes key, state, clients, gates and destinations.
// Invariant: what is written was checked, and passed the promotion gates; the old version stays otherwise.

import { join, resolve } from 'node:path';
import { readProxySettings } from '../../bundle/fetch/proxy-settings.ts';
import { RenewedAgent } from '../../bundle/fetch/renewed-agent.ts';
import { removeQuietly } from '../../bundle/store/store-disk.ts';
import { createExportApiClient } from '../../export-api/client.ts';
import { measureTimes } from '../../reconcile/link-timing.ts';
import { type HoldReason, judge } from '../../reconcile/settle/promotion.ts';
import { openCaFile } from '../../runtime/http/ca-certificates.ts';
import { userAgent } from '../../runtime/version.ts';
import { printable } from '../../wire/printable-text.ts';
import { type KeyFlags, readKey } from '../api-key.ts';
import { readIndex, type SizeLimits } from '../bundle/reading.ts';
import { CliError } from '../cli-error.ts';
import type { CliContext, CommandResult } from '../context.ts';
import { isThere } from '../output/destination.ts';
import { type CompleteExport, type ExportDependencies, exportSite } from './export-job.ts';
import {
  claimDestinations,
  defaultStatePath,
  noteDestinations,
  openStateFolder,
  placementOf,
  type StateFolder,
  workFolderName,
} from './export-state.ts';
import { admitDestination, writeLinkFile, writeValues } from './place.ts';
import { downloadInto, placeIndex } from './published.ts';

export interface ExportValues extends KeyFlags, SizeLimits {
  readonly apiBaseUrl: string;
  readonly to: string | undefined;
  readonly replace: boolean;
  readonly values: string | undefined;
  readonly linkFile: string | undefined;
  readonly minPages: number;
  readonly maxShrink: number;
  readonly baseline: string | undefined;
  readonly timeout: number;
  readonly requestTimeout: number;
  readonly state: string | undefined;
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
): Promise<CommandResult> {
  const request = { domain: readDomain(domain), baseUrl: values.apiBaseUrl };
  const key = await readKey(values, context);
  const state = await openStateFolder(values.state ?? defaultStatePath(request, context.env));
  const signal = context.clock.deadline(values.timeout, context.signal);
  const workDir = join(state.path, workFolderName);
  try {
    await removeQuietly(workDir);
    const { to } = values;
    if (to !== undefined) {
      const placement = placementOf(state, resolve(to), values.replace);
      await admitDestination(to, placement, [state.path, '.']);
    }
    const baseline = await readBaseline(values, request.domain, state, context);
    const { dependencies, close } = await connect(values, key, workDir, state, context);
    const continueWithinMs = Math.max(values.timeout, shortestContinueMs);
    const complete = await exportSite({ ...request, continueWithinMs }, dependencies, signal).finally(close);
    return await publish(complete, request, baseline, values, { workDir, state }, context, signal).catch(
      (error: unknown) => {
        // Whether a gate held it or a destination failed, a pipeline learns what was exported.
        const { digest, pages } = complete.index;
        throw error instanceof CliError ? error.knowing({ digest, pages }) : error;
      },
    );
  } catch (error) {
    throw signal.aborted ? stopped(error, values, state, context) : error;
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

async function readBaseline(
  values: ExportValues,
  domain: string,
  { state }: StateFolder,
  context: CliContext,
): Promise<Baseline | undefined> {
  const { last } = state;
  const own = last?.domain === domain && last.baseUrl === values.apiBaseUrl ? last : undefined;
  return values.baseline === undefined ? own : readIndex(values.baseline, values, context);
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
  const proxy = readProxySettings(env);
  // The user chooses the export API's address, which may be on a private network.
  const agent = new RenewedAgent(
    { proxy, idleTimeoutMs: timeoutMs, connections: 1, allowPrivateLinks: true },
    extraCaPem,
  );
  const api = createExportApiClient({
    clock,
    timeoutMs,
    userAgent,
    baseUrl: values.apiBaseUrl,
    key,
    dispatcher: agent,
  });
  const prepare: ExportDependencies['prepare'] = (link, signal) =>
    downloadInto(link, undefined, { ...values, workDir }, context, signal);
  return { dependencies: { api, state, clock, random, progress, prepare }, close: () => agent.end() };
}

async function publish(
  { jobId, version, index, issued, issuedAt }: CompleteExport,
  request: { readonly domain: string; readonly baseUrl: string },
  baseline: Baseline | undefined,
  values: ExportValues,
  { workDir, state }: { readonly workDir: string; readonly state: StateFolder },
  { progress }: CliContext,
  signal: AbortSignal,
): Promise<CommandResult> {
  const { digest, pages, sizeBytes, files } = index;
  const rules = {
    isInspected: true,
    minPages: values.minPages,
    maxShrinkPercent: values.maxShrink,
    maxBundleBytes: undefined,
    isManual: false,
  };
  const judgement = judge({ digest, pages }, baseline, rules, false);
  if (judgement.kind === 'hold') throw held(judgement.reason, pages, baseline, values);
  const isChanged = judgement.kind === 'promote';
  const { last } = state.state;
  // The same content keeps its version, as the operator does.
  const name = last?.digest === digest ? last.version : version;
  progress.phase('Writing');
  const to = values.to === undefined ? undefined : resolve(values.to);
  const written = state.state.destinations ?? [];
  const isPlaced = written.some((one) => one.path === to && one.digest === digest) && !values.replace;
  if (to !== undefined && !(isPlaced && (await isThere(to)))) {
    const place = { path: to, ...placementOf(state, to, values.replace) };
    if (place.mayReplace || !(await isThere(to))) await claimDestinations(state, [to]);
    await placeIndex(index, place, workDir, { progress }, signal);
    await noteDestinations(state, [to], digest);
  }
  if (values.values !== undefined) await writeValues(values.values, name);
  if (values.linkFile !== undefined) {
    const { link, serverDate, expiresAt } = issued;
    const signed = link.signedLifetime();
    const times = measureTimes({ sentAt: issuedAt, serverDate, claimedExpiresAt: expiresAt, signed });
    await writeLinkFile(values.linkFile, {
      ...times,
      version: name,
      digest,
      jobId,
      bundleUrl: link,
      pages,
      sizeBytes,
    });
  }
  await state.write({
    ...state.state,
    current: undefined,
    last: { ...request, jobId, version: name, digest, pages },
  });
  const summary = { version: name, digest, pages, files: files.length, sizeBytes };
  return {
    outcome: 'done',
    ...(!isChanged && values.unchangedExitCode !== undefined && { exitCode: values.unchangedExitCode }),
    kind: 'ExportResult',
    fields: {
      domain: request.domain,
      jobId,
      changed: isChanged,
      ...summary,
      ...(to !== undefined && { path: to }),
    },
    lines: [
      `${isChanged ? 'Exported' : 'Unchanged:'} ${request.domain}${isChanged ? '' : ' has the same content as before'}`,
      `Version: ${name}`,
      `Digest:  ${digest}`,
      `Pages:   ${pages}`,
      ...(to === undefined ? [] : [`Written: ${printable(values.to ?? '')}`]),
    ],
  };
}

function held(
  reason: HoldReason,
  pages: number,
  baseline: Baseline | undefined,
  { minPages, maxShrink }: ExportValues,
): CliError {
  const details: Readonly<Record<HoldReason, string>> = {
    TooFewPages: `the export has ${pages} pages (--min-pages ${minPages})`,
    PageCountDropped: `the export has ${pages} pages, down from ${baseline?.pages ?? 0} (--max-shrink ${maxShrink})`,
    AwaitingPromotion: 'the export waits for its promotion',
  };
  const next = [
    'Check the site. To publish this export, run the command again with another --min-pages or --max-shrink.',
  ];
  return new CliError('held', reason, `${details[reason]}; nothing was written`, { next });
}

/** After a signal or the deadline: what was reached, and how to continue. */
function stopped(
  error: unknown,
  { timeout }: ExportValues,
  { state: { current } }: StateFolder,
  context: CliContext,
): unknown {
  const job = current?.jobId === undefined ? '' : ` Export job ${printable(current.jobId)} goes on.`;
  const next = current === undefined ? [] : [`Run the same command again to continue.${job}`];
  const { reason } = context.signal;
  if (context.signal.aborted && reason instanceof CliError) {
    return new CliError(reason.outcome, reason.code, reason.message, { cause: error, next });
  }
  const message = `--timeout has passed (${Math.round(timeout / 1000)} s)`;
  return new CliError('deadline', 'DeadlineExceeded', message, { cause: error, next });
}
