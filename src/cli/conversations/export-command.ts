// `conversations export`: the turns of a project, new and changed ones, to a destination. Composes key, budget, client, state
// and sink. Invariant: the result on standard output never mixes with turns there.

import { createHash } from 'node:crypto';
import { join, resolve } from 'node:path';
import { readProxySettings } from '../../bundle/fetch/proxy-settings.ts';
import { RenewedAgent } from '../../bundle/fetch/renewed-agent.ts';
import { type Budget, budgetPath, openBudget } from '../../conversations/budget.ts';
import { createPacedListing } from '../../conversations/paced-listing.ts';
import { type RunCounts, type RunProgress, runExport } from '../../conversations/run.ts';
import { openSink, type SinkFormat } from '../../conversations/sinks/open-sink.ts';
import { openState, type StateIdentity } from '../../conversations/state.ts';
import { readUntil } from '../../conversations/windows.ts';
import { createExportApiClient, type ExportApiClient } from '../../export-api/client.ts';
import { openCaFile } from '../../runtime/http/ca-certificates.ts';
import { userAgent } from '../../runtime/version.ts';
import { formatInstant } from '../../wire/instant.ts';
import { printable } from '../../wire/printable-text.ts';
import { describeKeyPrefix, type KeyFlags, readKey } from '../api-key.ts';
import { CliError } from '../cli-error.ts';
import type { CliContext, CommandResult } from '../context.ts';
import { counted } from '../output/amounts.ts';
import { namedPath } from '../output/destination.ts';
import { failedExport, reportingFaults } from './export-failure.ts';
import { instantOf, type TimeBound } from './time-bound.ts';

export interface ConversationValues extends KeyFlags {
  readonly apiBaseUrl: string;
  readonly project: string;
  readonly to: string;
  readonly format: SinkFormat;
  readonly since: TimeBound;
  readonly until: TimeBound | undefined;
  readonly lag: number;
  readonly lookBack: number;
  readonly limit: number;
  readonly budget: { readonly requests: number; readonly periodMs: number };
  readonly reserve: number;
  readonly maxWait: number;
  readonly requestTimeout: number;
  readonly dropResponse: boolean;
  readonly state: string | undefined;
  readonly extraCaFile: string | undefined;
}

export async function exportConversations(
  values: ConversationValues,
  _args: readonly string[],
  context: CliContext,
): Promise<CommandResult> {
  const { clock, signal, progress } = context;
  const isStream = values.to === '-';
  if (isStream && context.output !== 'text') {
    const message = '--to - writes turns to standard output, so that --output must be text';
    throw new CliError('usage', 'WrongUsage', message);
  }
  const key = await readKey(values, context);
  const now = clock.now();
  const since = instantOf(values.since, now);
  const until = values.until === undefined ? undefined : instantOf(values.until, now);
  if (until !== undefined && until <= since)
    throw new CliError('usage', 'WrongUsage', '--until must be later than --since');
  const identity = identityOf(values);
  const home = stateHome(context.env);
  const state = await openState(values.state ?? defaultStatePath(home, identity), identity).catch(
    (error: unknown) => {
      throw failedExport(error, values, undefined);
    },
  );
  const counts: { last: RunCounts | undefined } = { last: undefined };
  try {
    const budget = await openKeyBudget(values, home, key, context);
    const { client, close } = await connect(values, key, context);
    try {
      const listing = createPacedListing({
        client,
        budget,
        clock,
        onWait: (ms) => progress.note(`Waiting ${Math.ceil(ms / 1000)} s for the budget of requests`),
      });
      const opened = await openSink(values.format, values.to, { ledger: state, writeOut: context.writeOut });
      const sink = reportingFaults(opened, namedPath('--to', values.to));
      const { lag: lagMs, lookBack: lookBackMs, limit, project, dropResponse: dropsResponse } = values;
      warnAboutClock(readUntil(state.windows, since), now, context);
      progress.phase('Reading conversations');
      const done = await runExport(
        { project, since, until, lagMs, lookBackMs, limit },
        {
          listing,
          state,
          sink,
          clock,
          dropsResponse,
          redact: (turn) => turn,
          onProgress: (at) => {
            counts.last = at;
            progress.advance(at.estimate.percent, progressWords(at));
          },
        },
        signal,
      ).finally(() => sink.close());
      return resultOf(values, done, readUntil(state.windows, since), isStream);
    } finally {
      budget.close();
      await close();
    }
  } catch (error) {
    signal.throwIfAborted();
    throw failedExport(error, values, describeKeyPrefix(key), counts.last);
  } finally {
    state.close();
  }
}

function identityOf({ apiBaseUrl, project, format, to, dropResponse }: ConversationValues): StateIdentity {
  return {
    '--api-base-url': apiBaseUrl,
    '--project': project,
    '--format': format,
    '--to': /^-$|^[a-z][a-z0-9+.-]*:\/\//i.test(to) ? to : resolve(to),
    '--drop-response': String(dropResponse),
  };
}

const stateHome = (env: CliContext['env']): string =>
  join(env['XDG_STATE_HOME'] || join(env['HOME'] || '.', '.local/state'), 'static-export');

function defaultStatePath(home: string, identity: StateIdentity): string {
  const { '--drop-response': _chosen, ...place } = identity;
  const name = createHash('sha256').update(JSON.stringify(place)).digest('hex').slice(0, 16);
  return join(home, 'conversations', name);
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

async function connect(
  { apiBaseUrl: baseUrl, requestTimeout: timeoutMs, extraCaFile }: ConversationValues,
  key: string,
  { clock, env }: CliContext,
): Promise<{ readonly client: ExportApiClient; readonly close: () => Promise<void> }> {
  const extraCaPem = await (await openCaFile(extraCaFile, () => {})).current();
  // The user chooses the export API's address, which may be on a private network.
  const agent = new RenewedAgent(
    { proxy: readProxySettings(env), idleTimeoutMs: timeoutMs, connections: 1, allowPrivateLinks: true },
    extraCaPem,
  );
  const client = createExportApiClient({ clock, timeoutMs, userAgent, baseUrl, key, dispatcher: agent });
  return { client, close: () => agent.end() };
}

/** A clock that was set back reads nothing new until it is where it was. */
function warnAboutClock(readUntilMs: number, now: number, { progress }: CliContext): void {
  if (readUntilMs <= now) return;
  const time = formatInstant(readUntilMs);
  progress.note(`The clock is behind the last run, which read until ${time}. Check the clock.`, 'warning');
}

function progressWords({ inserted, updated, requests, estimate }: RunProgress): string {
  const about = estimate.requests === undefined ? '' : ` of about ${estimate.requests}`;
  return `${counted(inserted + updated, 'turn')}, request ${requests}${about}`;
}

function resultOf(
  { project, to }: ConversationValues,
  counts: RunCounts,
  readUntilMs: number,
  isStream: boolean,
): CommandResult {
  const readUntilTime = formatInstant(readUntilMs);
  const { inserted, updated, unchanged, undated, requests } = counts;
  return {
    outcome: 'done',
    kind: 'ConversationExport',
    fields: { project, path: to, ...counts, readUntilTime },
    ...(isStream && { script: '' }),
    lines: [
      `Exported ${counted(inserted, 'new turn')} and ${counted(updated, 'changed turn')} of ${printable(project)}`,
      `Read until ${readUntilTime} with ${counted(requests, 'request')}; ${counted(unchanged, 'turn')} unchanged`,
      ...(undated === 0 ? [] : [`${counted(undated, 'turn')} with a timestamp that is not an instant`]),
    ],
  };
}
