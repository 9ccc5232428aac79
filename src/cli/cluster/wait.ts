// `--wait`: polls a StaticExport until its status is about this token and final. Refuses: an end that an earlier export or
// link left. Invariant: it ends with `--timeout` at the latest, whatever the Kubernetes API server answers meanwhile.

import { parseStaticExport } from '../../staticexport/parse.ts';
import type { Status } from '../../staticexport/status-schema.ts';
import type { StaticExportObject } from '../../wire/cluster.ts';
import { CliError, failureOf } from '../cli-error.ts';
import type { CliContext } from '../context.ts';
import { type RunOutcome, runOutcome } from '../run-outcome.ts';
import type { ClusterClient } from './client.ts';
import { nextSteps } from './next-steps.ts';
import { summaryOf } from './summary.ts';

const pollMs = 2_000;

export interface Wait {
  readonly name: string;
  /** Of the request. */
  readonly token: string;
  readonly timeoutMs: number;
}

/** What is waited for. */
export interface Awaited {
  readonly phase: string;
  /** For the message of the deadline. */
  readonly goesOn: string;
  /** The condition that names why the operator retries. */
  readonly condition: 'Exported' | 'LinkFresh';
  /** @returns `undefined` while the operator works on the token */
  endOf(object: StaticExportObject, token: string): RunOutcome | undefined;
}

export const awaitedExport: Awaited = {
  phase: 'Waiting for the export',
  goesOn: 'the export goes on',
  condition: 'Exported',
  endOf: endOfExport,
};
export const awaitedLink: Awaited = {
  phase: 'Waiting for the link',
  goesOn: 'the operator goes on, and condition LinkFresh names a failure',
  condition: 'LinkFresh',
  endOf: endOfRefresh,
};

/**
 * @returns the object whose status says that the request is complete, and its message
 * @throws {CliError} the outcome, `DeadlineExceeded`, the signal's reason; what `read` throws for good
 */
export async function waitFor(
  { phase, goesOn, condition, endOf }: Awaited,
  { name, token, timeoutMs }: Wait,
  client: Pick<ClusterClient, 'read'>,
  { clock, signal, progress }: Pick<CliContext, 'clock' | 'signal' | 'progress'>,
): Promise<{ readonly object: StaticExportObject; readonly message: string }> {
  const deadline = clock.deadline(timeoutMs, signal);
  let noted: string | undefined;
  progress.phase(phase);
  for (;;) {
    const object = await readAgain(name, client);
    if (object !== undefined) {
      const { status } = parseStaticExport(object);
      const { job } = status;
      if (job?.state !== undefined) progress.advance(job.progress, job.state);
      const ended = endOf(object, token);
      if (ended?.outcome === 'done') return { object, message: ended.message };
      if (ended !== undefined) {
        const next = nextSteps(summaryOf(object));
        throw new CliError(ended.outcome, ended.code, ended.message, { next });
      }
      const obstacle = obstacleOf(condition, status, token);
      if (obstacle !== undefined && obstacle !== noted) progress.note(obstacle, 'warning');
      noted = obstacle;
    }
    await clock.after(pollMs, deadline).catch((cause: unknown) => {
      signal.throwIfAborted();
      const message = `--timeout has passed (${Math.round(timeoutMs / 1000)} s); ${goesOn}`;
      throw new CliError('deadline', 'DeadlineExceeded', message, { cause });
    });
  }
}

/** Before a job is started for the request, the status is about an earlier export. */
function endOfExport(object: StaticExportObject, token: string): RunOutcome | undefined {
  const { spec, status } = parseStaticExport(object);
  const ended = runOutcome(status, object.metadata.generation ?? 0);
  if (status.lastCompletedRequest === token) return ended;
  if (status.lastHandledRequest === token) {
    // The version before is still ready, and the operator replaces a lost job once.
    return ended?.outcome === 'done' || ended?.code === 'JobLost' ? undefined : ended;
  }
  if (status.refusedKey?.request === token) return keyRefused;
  return spec?.suspend === true || spec?.pin !== undefined ? notStarted : undefined;
}

const keyRefused: RunOutcome = {
  outcome: 'key',
  code: 'KeyRefused',
  message: 'the export API refused the key, so no export starts; check the key Secret',
};
const notStarted: RunOutcome = {
  outcome: 'usage',
  code: 'RequestPending',
  message: 'no export starts while the StaticExport is suspended or pinned; resume or unpin it',
};

function endOfRefresh(object: StaticExportObject, token: string): RunOutcome | undefined {
  const { lastHandledRefresh, failures, active } = parseStaticExport(object).status;
  if (lastHandledRefresh === token) {
    const until = active?.linkExpirationTime;
    return { outcome: 'done', code: 'Refreshed', message: `The new link is valid until ${until}.` };
  }
  const isSame = failures?.link?.refreshRequest === token && failures.link.reason === 'NotFresher';
  return isSame ? sameLink : undefined;
}

const sameLink: RunOutcome = {
  outcome: 'temporary',
  code: 'SameLink',
  message: 'the export API issued the published link again; it issues another when this one expires',
};

/** Why the operator retries what the token requested. */
function obstacleOf(
  condition: Awaited['condition'],
  { failures, conditions }: Status,
  token: string,
): string | undefined {
  const requested = condition === 'Exported' ? failures?.export?.request : failures?.link?.refreshRequest;
  if (requested !== token) return undefined;
  return conditions?.find(({ type }) => type === condition)?.message;
}

/** @returns `undefined` where the Kubernetes API server may answer later */
async function readAgain(
  name: string,
  client: Pick<ClusterClient, 'read'>,
): Promise<StaticExportObject | undefined> {
  try {
    return await client.read(name);
  } catch (error) {
    if (failureOf(error).retryable) return undefined;
    throw error;
  }
}
