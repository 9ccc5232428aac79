// `request --wait`: polls a StaticExport until its status is about this request and final. Refuses: an end that an earlier
// export left. Invariant: it ends with `--timeout` at the latest, whatever the Kubernetes API server answers meanwhile.

import { parseStaticExport } from '../../staticexport/parse.ts';
import type { StaticExportObject } from '../../wire/cluster.ts';
import { CliError, failureOf } from '../cli-error.ts';
import type { CliContext } from '../context.ts';
import { type RunOutcome, runOutcome } from '../run-outcome.ts';
import type { ClusterClient } from './client.ts';

const pollMs = 2_000;

export interface Wait {
  readonly name: string;
  /** Of the request. */
  readonly token: string;
  readonly timeoutMs: number;
}

/**
 * @returns the object whose status says that the request is complete, and its message
 * @throws {CliError} the outcome of the export, `DeadlineExceeded`, the signal's reason; what `read` throws for good
 */
export async function waitForRequest(
  { name, token, timeoutMs }: Wait,
  client: Pick<ClusterClient, 'read'>,
  { clock, signal, progress }: Pick<CliContext, 'clock' | 'signal' | 'progress'>,
): Promise<{ readonly object: StaticExportObject; readonly message: string }> {
  const deadline = clock.deadline(timeoutMs, signal);
  progress.phase('Waiting for the export');
  for (;;) {
    const object = await readAgain(name, client);
    if (object !== undefined) {
      const { job } = parseStaticExport(object).status;
      if (job?.state !== undefined) progress.advance(job.progress, job.state);
      const ended = endOf(object, token);
      if (ended?.outcome === 'done') return { object, message: ended.message };
      if (ended !== undefined) throw new CliError(ended.outcome, ended.code, ended.message);
    }
    await clock.after(pollMs, deadline).catch((cause: unknown) => {
      signal.throwIfAborted();
      const message = `--timeout has passed (${Math.round(timeoutMs / 1000)} s); the export goes on`;
      throw new CliError('deadline', 'DeadlineExceeded', message, { cause });
    });
  }
}

/** Before a job is started for the request, the status is about an earlier export. */
function endOf(object: StaticExportObject, token: string): RunOutcome | undefined {
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
