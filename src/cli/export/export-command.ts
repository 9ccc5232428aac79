// `export DOMAIN`: a run over a folder, once, of the StaticExport that the flags describe. Composes key, state, gates and
// destinations. Invariant: what is written was checked, and passed the promotion gates; the old version stays otherwise.
// The link stays in memory, except for --link-file.

import { basename, join, resolve } from 'node:path';
import type { BundleIndex } from '#bundle/bundle-index.ts';
import type { PublishedBundle } from '#bundle/published-bundle.ts';
import type { RuleChoice } from '#bundle/repair/rule-modes.ts';
import { removeQuietly } from '#bundle/store/store-disk.ts';
import type { ExportBasePath } from '#export-api/contract.ts';
import type { Baseline } from '#operator/reconcile/observation.ts';
import { judge } from '#operator/reconcile/settle/promotion.ts';
import { defaultSecretKey, resourceKind } from '#operator/staticexport/names.ts';
import { parseStatus } from '#operator/staticexport/parse.ts';
import { readHoldReason } from '#operator/staticexport/reasons.ts';
import type { Spec } from '#operator/staticexport/schema.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import { printable } from '#platform/wire/printable-text.ts';
import { type KeyFlags, keyVariable, readKey } from '../api-key.ts';
import { contentWarnings, warningLines } from '../bundle/inspect.ts';
import { readIndex, type SizeLimits } from '../bundle/reading.ts';
import { CliError, failureOf } from '../cli-error.ts';
import type { CliContext } from '../context.ts';
import { openFolderCluster, stateUnusable } from '../folder/folder-cluster.ts';
import { type FolderRun, runOverFolder } from '../folder/folder-run.ts';
import { stepsAfter } from '../folder/run-end.ts';
import type { RunEnd } from '../folder/run-loop.ts';
import { namedPath, writeWhole } from '../output/destination.ts';
import { marked } from '../output/paint.ts';
import { markedLine } from '../output/screen.ts';
import { type ExportedSite, isSameSite, siteName } from '../publish/exported-site.ts';
import { admitAll, type ContentSource, type Destinations, publishingsOf } from '../publish/publish.ts';
import { type KeptDownloads, keepDownloads } from '../publish/published.ts';
import {
  defaultStatePath,
  openStateFolder,
  type StateFolder,
  workFolderName,
} from '../publish/state-folder.ts';
import { continueExport } from './continuation.ts';
import type { ExportAnswer } from './documents.ts';
import { heldExport, resuming } from './held-export.ts';
import { type RepairedDownloads, repairDownloads } from './repaired-download.ts';
import { readSite } from './site-argument.ts';

export interface ExportValues extends KeyFlags, SizeLimits {
  readonly apiBaseUrl: string;
  readonly projectId: string | undefined;
  readonly basePath: ExportBasePath | undefined;
  readonly startsPerHour: number;
  readonly to: string | undefined;
  readonly replace: boolean;
  readonly values: string | undefined;
  readonly linkFile: string | undefined;
  readonly minPages: number;
  readonly repair: boolean;
  readonly rule: readonly RuleChoice[];
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
const hourMs = 3_600_000;
const namespace = 'default';
const keySecret = 'export-api';
/** A project's domain only names the site, and may be left out the next time. */
const ofProject = 'project';

/** What one export is made of, for its parts. */
interface Parts {
  readonly values: ExportValues;
  readonly site: ExportedSite;
  readonly state: StateFolder;
  readonly baseline: Baseline;
  readonly kept: KeptDownloads;
  readonly repaired: RepairedDownloads | undefined;
  /** Names of the destinations that this command writes. */
  readonly written: Set<string>;
}

export async function runExport(
  values: ExportValues,
  [domain]: readonly string[],
  context: CliContext,
): Promise<ExportAnswer> {
  const site = readSite(domain, values);
  const key = await readKey(values, context);
  const signal = context.clock.deadline(values.timeout, context.signal);
  const state = await openStateFolder(values.state ?? defaultStatePath(site, context.env));
  const workDir = join(state.path, workFolderName);
  const repaired = repairDownloads(values, context);
  const kept = keepDownloads({ ...values, workDir, remake: repaired?.remake }, context);
  try {
    await removeQuietly(workDir);
    const destinations = destinationsOf(values);
    const { keyFile, baseline: other, extraCaFile } = values;
    const files = { '--key-file': keyFile, '--baseline': other, '--extra-ca-file': extraCaFile };
    await admitAll(destinations, files, state);
    const baseline = await readBaseline(values, site, state, context);
    await state.write({ ...state.state, site });
    const parts = { values, site, state, baseline, kept, repaired, written: new Set<string>() };
    return await exportOnce(parts, destinations, key, context, signal);
  } catch (error) {
    // Whether a gate held it or a destination failed, a pipeline learns what was exported.
    const { digest, pages } = kept.index() ?? {};
    const failure = error instanceof ClusterError ? stateUnusable(error) : error;
    throw failure instanceof CliError && digest !== undefined ? failure.knowing({ digest, pages }) : failure;
  } finally {
    await kept.ended();
    await removeQuietly(workDir);
    state.close();
  }
}

async function exportOnce(
  parts: Parts,
  destinations: Destinations,
  key: string,
  context: CliContext,
  signal: AbortSignal,
): Promise<ExportAnswer> {
  const { values, site, state, baseline, kept } = parts;
  const objects = join(state.path, 'export');
  const cluster = await openFolderCluster(objects, context.random, writeExportOnly);
  const resource = { namespace, name: (site.projectId === undefined ? site.domain : undefined) ?? ofProject };
  cluster.holdSecret({ namespace, name: keySecret }, { [defaultSecretKey]: Buffer.from(key) });
  const withinMs = Math.max(values.timeout, shortestContinueMs);
  const spec = specOf(values, site, withinMs);
  const stored = await cluster.applyManifest({ key: resource, spec, annotations: {}, labels: {} });
  const { last } = state.state;
  const rules = { site, last, isNew: values.new, withinMs, now: context.clock.now() };
  const { status, note } = continueExport(parseStatus(stored.status), rules);
  if (note !== undefined) context.progress.note(note);
  await cluster.writeStatus(stored, status, context.signal);
  const source: ContentSource = {
    workDir: join(state.path, workFolderName),
    obtain: async (bundle) => keptIndex(bundle, kept),
    release: async () => {},
    admit: (bundle, names) => {
      requireGates(bundle, parts);
      for (const name of names) parts.written.add(name);
    },
  };
  const run: FolderRun = {
    ...values,
    ...{ key: resource, spec, baseline, once: true },
    inspectTimeout: values.timeout,
    ...{ allowedApiHosts: [], allowedGitHosts: [], allowedMirrorHosts: [], allowPrivateMirrorHosts: false },
    publishings: publishingsOf(destinations, source, values.timeout, state, context),
    keeping: kept,
    // The error says why nothing was written, in words of this command.
    isEventShown: ({ type, reason }) => type === 'Warning' && readHoldReason(reason) === undefined,
    namesKeySecret: false,
    resume: ({ job }) => [resuming(values, job?.id)],
  };
  const answer = await runOverFolder(run, cluster, (end) => conclude(end, parts), context, signal);
  // A finished job is not continued, whatever is exported next with this state.
  const finished = await cluster.readStaticExport(resource, context.signal);
  const { startTimes } = parseStatus(finished?.status);
  if (finished !== undefined) await cluster.writeStatus(finished, { startTimes }, context.signal);
  return answer;
}

/** The link is for this process alone, and so is the Secret that holds it. */
const writeExportOnly: typeof writeWhole = (path, ...rest) =>
  basename(path).startsWith(`${resourceKind}.`) ? writeWhole(path, ...rest) : Promise.resolve();

function destinationsOf({ to, replace, values, linkFile }: ExportValues): Destinations {
  const places =
    to === undefined ? [] : [{ to, flag: '--to', name: namedPath('--to', to), isReplaced: replace }];
  return { places, values, linkFile };
}

function specOf(values: ExportValues, { domain, projectId, basePath }: ExportedSite, withinMs: number): Spec {
  return {
    domain,
    api: { keySecretRef: { name: keySecret }, projectId, basePath },
    // The command's own deadline ends the wait.
    jobTimeout: `${Math.ceil((withinMs + values.timeout) / hourMs)}h`,
    promotion: {
      minPages: values.minPages,
      requireHomePage: !values.allowMissingHomePage,
      maxShrinkPercent: values.maxShrink,
    },
  };
}

async function readBaseline(
  values: ExportValues,
  site: ExportedSite,
  { state: { last } }: StateFolder,
  context: CliContext,
): Promise<Baseline> {
  const own = last !== undefined && isSameSite(last, site) ? last : undefined;
  if (values.baseline === undefined) return { content: own, last };
  const content = await readIndex(values.baseline, values, context).catch((error: unknown) => {
    const { outcome, code, message, next } = failureOf(error);
    // A rejected baseline is no verdict about the export.
    if (outcome !== 'usage' && outcome !== 'archiveRejected') throw error;
    throw new CliError('usage', code, `--baseline cannot be compared with: ${message}`, {
      cause: error,
      next,
    });
  });
  return { content, last };
}

function keptIndex({ digest }: Pick<PublishedBundle, 'digest'>, kept: KeptDownloads): BundleIndex {
  const index = kept.index();
  if (index === undefined || index.digest !== digest)
    throw new TypeError('a version is published after its inspection');
  return index;
}

/** The same content was published under other limits, and these are about what is written now. */
function requireGates(bundle: PublishedBundle, { values, kept, baseline }: Parts): void {
  const { version, jobId } = bundle;
  const { pages, notes } = keptIndex(bundle, kept);
  const rules = {
    ...{ isInspected: true, minPages: values.minPages, needsHomePage: !values.allowMissingHomePage },
    ...{ maxShrinkPercent: 100, maxBundleBytes: undefined, isManual: false },
  };
  const judgement = judge({ pages, notes }, undefined, rules, false);
  if (judgement.kind === 'hold')
    throw heldExport(judgement.reason, { jobId, version, pages }, baseline.content?.pages, values);
}

const again = ['Run the command again for a new export.'];
/** Of an end, in words of this command. */
const stepsOf = (site: ExportedSite): Readonly<Partial<Record<string, readonly string[]>>> => ({
  KeyForbidden: [`Check that the key may export ${siteName(site)}.`],
  StartRefused: [`Check that the export API knows ${siteName(site)}.`],
  JobFailed: again,
  JobLost: again,
  BundleRejected: again,
});

/** What passed the gates and was written is remembered as the last export. */
async function conclude({ ended, status, published }: RunEnd, parts: Parts): Promise<ExportAnswer> {
  const { values, site, state, baseline, kept, repaired, written } = parts;
  const { candidate, job } = status;
  const reason = ended.outcome === 'held' ? readHoldReason(ended.code) : undefined;
  if (reason !== undefined && candidate !== undefined) {
    const { jobId, version, pages = 0 } = candidate;
    throw heldExport(reason, { jobId, version, pages }, baseline.content?.pages, values);
  }
  const own = stepsAfter(ended.code, status, { keySource: keySourceOf(values), spec: undefined });
  if (ended.outcome !== 'done' || published === undefined)
    throw new CliError(ended.outcome, ended.code, ended.message, {
      next: own.length > 0 ? own : (stepsOf(site)[ended.code] ?? []),
    });
  const { version, jobId } = published;
  const index = keptIndex(published, kept);
  const { digest, pages, sizeBytes, files } = index;
  await state.write({ ...state.state, last: { ...site, jobId, version, digest, pages } });
  const report = repaired?.report();
  const isChanged = job?.verdict !== 'Unchanged';
  const writtenLine = (name: string, path: string | undefined): readonly string[] =>
    path === undefined ? [] : [`${written.has(name) ? 'Written' : 'Unchanged'}: ${printable(path)}`];
  return {
    outcome: 'done',
    ...(!isChanged && values.unchangedExitCode !== undefined && { exitCode: values.unchangedExitCode }),
    kind: 'ExportResult',
    fields: {
      ...(site.domain !== undefined && { domain: site.domain }),
      ...(site.projectId !== undefined && { projectId: site.projectId }),
      jobId,
      changed: isChanged,
      ...{ version, digest, pages, files: files.length, sizeBytes },
      ...report?.fields,
      ...(values.to !== undefined && { path: resolve(values.to) }),
      written: ['--to', '--values', '--link-file'].filter((name) => written.has(name)),
    },
    lines: [
      markedLine(
        isChanged ? marked('Exported', 'good') : marked('Unchanged:', 'quiet'),
        ` ${siteName(site)}${isChanged ? '' : ' has the same content as before'}`,
      ),
      `Version: ${version}`,
      `Digest:  ${digest}`,
      `Pages:   ${pages}`,
      ...writtenLine('--to', values.to),
      ...writtenLine('--values', values.values),
      ...writtenLine('--link-file', values.linkFile),
      ...(report?.lines ?? []),
      ...warningLines(index),
    ],
    findings: [...(report?.findings ?? []), ...contentWarnings(index)],
  };
}

function keySourceOf({ keyFile, keyStdin }: KeyFlags): string {
  if (keyStdin) return 'standard input';
  return keyFile === undefined ? keyVariable : '--key-file';
}
