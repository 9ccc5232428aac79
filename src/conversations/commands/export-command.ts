// `conversations export`: the turns of a project, new and changed ones, to a destination. Composes key, budget, client, state
// and sink. Invariant: the result on standard output never mixes with turns there.

import { dirname, join } from 'node:path';
import { describeKeyPrefix, type KeyFlags, readKey } from '#cli/api-key.ts';
import { CliError } from '#cli/cli-error.ts';
import type { CliContext } from '#cli/context.ts';
import { counted } from '#cli/output/amounts.ts';
import { namedPath } from '#cli/output/destination.ts';
import { createListingClient, type ListingClient } from '#export-api/listing-client.ts';
import { openCaFile } from '#platform/http/ca-certificates.ts';
import { requireProxySettings } from '#platform/http/proxy-settings.ts';
import { RenewedAgent } from '#platform/http/renewed-agent.ts';
import { keepHeapSmall } from '#platform/runtime/v8/heap-growth.ts';
import { userAgent } from '#platform/runtime/version.ts';
import { formatInstant } from '#platform/wire/instant.ts';
import { printable } from '#platform/wire/printable-text.ts';
import { type Budget, budgetPath, type OnWait, openBudget } from '../budget.ts';
import type { Estimate } from '../estimate.ts';
import { createPacedListing, type PacedListing } from '../paced-listing.ts';
import { createRedaction, fingerprintOf, type Redaction, type RedactionKind } from '../redaction.ts';
import { exportTurns, type RunCounts, type RunProgress } from '../run.ts';
import type { Sink } from '../sink.ts';
import { checkPlace, openSink, placeKind } from '../sinks/open-sink.ts';
import { type ConversationState, openState, type StateIdentity } from '../state.ts';
import { readUntil } from '../windows.ts';
import { type DestinationValues, destinationPorts } from './destination-ports.ts';
import type { ConversationAnswer } from './documents.ts';
import { failedExport, partialExport, reportingFaults, sinkFault, stoppedExport } from './export-failure.ts';
import { readRedactionKey } from './redaction-key.ts';
import { readCatalogFields } from './singer-catalog-file.ts';
import { openSingerState } from './singer-state.ts';
import { defaultListingStatePath, type ExportPlace, stateHome, stateIdentityOf } from './state-identity.ts';
import { instantOf, type TimeBound } from './time-bound.ts';

export interface ConversationValues extends KeyFlags, DestinationValues, ExportPlace {
  readonly since: TimeBound;
  readonly until: TimeBound | undefined;
  readonly lag: number;
  readonly lookBack: number;
  readonly limit: number;
  readonly budget: { readonly requests: number; readonly periodMs: number };
  readonly reserve: number;
  readonly maxWait: number;
  readonly redact: readonly RedactionKind[];
  readonly redactKeyFile: string | undefined;
  readonly dropResponse: boolean;
  readonly state: string | undefined;
  readonly catalog: string | undefined;
  readonly extraCaFile: string | undefined;
}

export async function exportConversations(
  values: ConversationValues,
  _args: readonly string[],
  context: CliContext,
): Promise<ConversationAnswer<'ConversationExport'>> {
  requirePlainOutput(values, context);
  // A page leaves megabytes behind, and a long run would keep them.
  keepHeapSmall();
  const key = await readKey(values, context);
  const now = context.clock.now();
  const since = instantOf(values.since, now);
  const until = values.until === undefined ? undefined : instantOf(values.until, now);
  if (until !== undefined && until <= since)
    throw new CliError('usage', 'WrongUsage', '--until must be later than --since');
  const home = stateHome(context.env);
  const redaction = await redactionOf(values, home, context);
  const progress: { last: RunProgress | undefined } = { last: undefined };
  const state = await openRunState(values, home, redaction).catch((error: unknown) => {
    throw failedExport(error, values, now);
  });
  try {
    return await withListing(values, home, key, context, async (listing, extraCaPem) => {
      warnAboutClock(state.windows.at(-1)?.until ?? 0, now, context);
      const { lag: lagMs, lookBack: lookBackMs, limit, project, dropResponse: dropsResponse } = values;
      const scratch = join(statePathOf(values, home), 'scratch');
      const done = await withSink(values, { state, scratch, extraCaPem }, context, (sink) =>
        exportTurns(
          { project, since, until, lagMs, lookBackMs, limit },
          {
            ...{ listing, state, sink, clock: context.clock, dropsResponse },
            redact: createRedaction(redaction),
            onProgress: (at) => {
              progress.last = at;
              context.progress.advance(at.estimate.percent, progressWords(at, at.estimate));
            },
            onPage: (counts) => {
              const estimate = progress.last?.estimate ?? { percent: 0, requests: undefined };
              context.progress.advance(estimate.percent, progressWords(counts, estimate));
            },
          },
          context.signal,
        ),
      );
      const { partial, ...counts } = done;
      const readUntilMs = readUntil(state.windows, since);
      if (partial !== undefined) throw partialExport(partial, counts, readUntilMs);
      return resultOf(values, counts, readUntilMs, context);
    });
  } catch (error) {
    const { aborted, reason } = context.signal;
    throw aborted
      ? stoppedExport(reason, progress.last)
      : failedExport(error, values, context.clock.now(), describeKeyPrefix(key), progress.last);
  } finally {
    state.close();
  }
}

/** Standard output is either for turns or for a document. */
function requirePlainOutput({ format, to }: ConversationValues, { output }: CliContext): void {
  const wrong = checkPlace(format, to);
  if (wrong !== undefined) throw new CliError('usage', 'WrongUsage', wrong);
  if (to !== '-' || output === 'text') return;
  const message = '--to - writes turns to standard output, so that --output must be text';
  throw new CliError('usage', 'WrongUsage', message);
}

async function redactionOf(
  { redact: kinds, redactKeyFile }: ConversationValues,
  home: string,
  { random }: CliContext,
): Promise<Redaction> {
  if (kinds.length === 0) return { kinds, key: '' };
  return { kinds, key: await readRedactionKey(redactKeyFile, join(home, 'redaction.key'), random) };
}

/** Of Singer, the target has the state. */
async function openRunState(
  values: ConversationValues,
  home: string,
  redaction: Redaction,
): Promise<ConversationState> {
  if (values.format === 'singer') return openSingerState(values);
  const identity = identityOf(values, redaction);
  return await openState(statePathOf(values, home), identity);
}

const statePathOf = (values: ConversationValues, home: string): string =>
  values.state ?? defaultListingStatePath(home, values);

function identityOf(values: ConversationValues, { kinds, key }: Redaction): StateIdentity {
  return {
    ...stateIdentityOf(values),
    '--drop-response': String(values.dropResponse),
    '--redact': [...new Set(kinds)].toSorted().join(','),
    ...(kinds.length > 0 && { 'redaction key': fingerprintOf(key) }),
  };
}

async function withListing<T>(
  values: ConversationValues,
  home: string,
  key: string,
  context: CliContext,
  use: (listing: PacedListing, extraCaPem: string | undefined) => Promise<T>,
): Promise<T> {
  const { clock, progress } = context;
  const extraCaPem = await (await openCaFile(values.extraCaFile, () => {})).current();
  const budget = await openKeyBudget(values, home, key, context);
  const { client, close } = connect(values, key, extraCaPem, context);
  const onWait: OnWait = (ms, isPaused) =>
    progress.note(
      `Waiting ${Math.ceil(ms / 1000)} s ${isPaused ? 'because the export API asks for it' : 'for the budget of requests'}`,
    );
  const onRetry = (code: string, ms: number): void =>
    progress.note(`The request failed (${code}). Repeating it in ${Math.ceil(ms / 1000)} s`);
  try {
    return await use(createPacedListing({ client, budget, clock, onWait, onRetry }), extraCaPem);
  } finally {
    budget.close();
    await close();
  }
}

async function withSink<T>(
  values: ConversationValues,
  needs: {
    readonly state: ConversationState;
    readonly scratch: string;
    readonly extraCaPem: string | undefined;
  },
  context: CliContext,
  use: (sink: Sink) => Promise<T>,
): Promise<T> {
  const { writeOut, signal, progress } = context;
  const { state: ledger, scratch, extraCaPem } = needs;
  const ports = destinationPorts(values, extraCaPem, context);
  // A bucket names itself in its faults. What is left is the folder where partitions are merged.
  const isBucket = placeKind(values.to) === 'bucket';
  const name = isBucket ? namedPath('--state', dirname(scratch)) : namedPath('--to', values.to);
  try {
    const fields = values.catalog === undefined ? undefined : await readCatalogFields(values.catalog);
    const destination = { ...values, fields };
    const opened = await openSink(destination, { ...ports, ledger, scratch, writeOut, signal }).catch(
      (error: unknown) => {
        throw sinkFault(error, name);
      },
    );
    const sink = reportingFaults(opened, name);
    progress.phase('Reading conversations');
    return await use(sink).finally(() => sink.close());
  } finally {
    await ports.close();
  }
}

function openKeyBudget(
  { apiBaseUrl, budget: rule, reserve, maxWait }: ConversationValues,
  home: string,
  key: string,
  { clock }: CliContext,
): Promise<Budget> {
  const path = budgetPath(join(home, 'budgets'), new URL(apiBaseUrl).host, key);
  return openBudget(path, { ...rule, reserve, maxWaitMs: maxWait }, clock);
}

function connect(
  { apiBaseUrl: baseUrl, requestTimeout: timeoutMs }: ConversationValues,
  key: string,
  extraCaPem: string | undefined,
  { clock, env, listingWorker: program }: CliContext,
): { readonly client: ListingClient; readonly close: () => Promise<void> } {
  // The user chooses the export API's address, which may be on a private network.
  const agent = new RenewedAgent(
    {
      proxy: requireProxySettings(env),
      idleTimeoutMs: timeoutMs,
      connections: 1,
      allowPrivateAddresses: true,
    },
    extraCaPem,
  );
  const options = { clock, timeoutMs, userAgent, baseUrl, key, agent };
  const client = createListingClient({ ...options, program });
  return { client, close: () => agent.destroy() };
}

/**
 * A clock that was set back reads nothing new until it is where it was.
 * @param lastEnd of the last window, because an age as --since also moves back with the clock
 */
function warnAboutClock(lastEnd: number, now: number, { progress }: CliContext): void {
  if (lastEnd <= now) return;
  const time = formatInstant(lastEnd);
  progress.note(`The clock is behind the last run, which read until ${time}. Check the clock.`, 'warning');
}

/** Without an estimate it is too early for one. */
function progressWords({ inserted, updated, requests }: RunCounts, estimate: Estimate): string {
  const about =
    estimate.requests === undefined || estimate.requests < requests ? '' : ` of about ${estimate.requests}`;
  return `${counted(inserted + updated, 'turn')}, request ${requests}${about}`;
}

function resultOf(
  { project, to }: ConversationValues,
  counts: RunCounts,
  readUntilMs: number,
  { progress }: CliContext,
): ConversationAnswer<'ConversationExport'> {
  const readUntilTime = formatInstant(readUntilMs);
  const { partialWindows: _none, ...whole } = counts;
  const { inserted, updated, unchanged, undated, requests } = counts;
  const lines = [
    `Exported ${counted(inserted, 'new turn')} and ${counted(updated, 'changed turn')} of ${printable(project)}`,
    `Read until ${readUntilTime} with ${counted(requests, 'request')}; ${counted(unchanged, 'turn')} unchanged`,
    ...(undated === 0 ? [] : [`${counted(undated, 'turn')} with a timestamp that is not an instant`]),
  ];
  const result: ConversationAnswer<'ConversationExport'> = {
    outcome: 'done',
    kind: 'ConversationExport',
    fields: { project, path: to, ...whole, readUntilTime },
    lines,
  };
  if (to !== '-') return result;
  // Standard output has the turns.
  for (const line of lines) progress.note(line);
  return { ...result, script: '' };
}
