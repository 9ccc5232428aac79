// `get --watch` over virtual time: a row for each change, and nothing for what the table does not show.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CliError } from '#cli/cli-error.ts';
import type { ExportSummary } from '#cli/cluster/summary.ts';
import { watchExports } from '#cli/cluster/watch.ts';
import { silentProgress } from '#cli/output/progress.ts';
import { plainScreen, renderBlocks } from '#cli/output/screen.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

const one = (name: string, reason: string, nextRefreshTime?: string): ExportSummary => ({
  ...{ namespace: 'team', name, reason, nextRefreshTime, ready: 'True', message: '', suspended: false },
  ...{ domain: undefined, exported: undefined, pinned: undefined, version: undefined, digest: undefined },
  ...{ pages: undefined, ref: undefined, linkExpirationTime: undefined, job: undefined },
  ...{ candidate: undefined, nextExportTime: undefined },
});

async function watch(answers: readonly (readonly ExportSummary[] | Error)[]) {
  const clock = virtualClock();
  const stop = new AbortController();
  const [printed, notes]: [string[], string[]] = [[], []];
  let reads = 0;
  const read = async (): Promise<readonly ExportSummary[]> => {
    const answer = answers[reads] ?? [];
    reads += 1;
    if (reads > answers.length) stop.abort(new CliError('interrupted', 'Stopped', 'stopped by SIGINT'));
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const watched = {
    read,
    tableOf: (items: readonly ExportSummary[]) => ({
      kind: 'table' as const,
      columns: [{ title: 'NAME' }, { title: 'REASON' }],
      rows: items.map(({ name, reason }) => [name, reason]),
    }),
    none: 'There are none.',
  };
  const progress = { ...silentProgress, note: (text: string) => void notes.push(text) };
  const print = (block: Parameters<typeof renderBlocks>[0][number]): void =>
    void printed.push(...renderBlocks([block], plainScreen));
  const ended = watchExports(watched, { clock, progress, print }, stop.signal).catch(
    (error: unknown) => error,
  );
  await clock.pass(2_000 * (answers.length + 1));
  return { printed, notes, ended: await ended };
}

test('each change is a row in the columns of the table, and what is not shown is none', async () => {
  const { printed, notes, ended } = await watch([
    [one('docs', 'Published'), one('guide-of-api', 'Published')],
    [one('docs', 'Published', '2026-01-01T00:00:00Z'), one('guide-of-api', 'Published')],
    [one('docs', 'Exporting'), one('guide-of-api', 'Published')],
    new ClusterError('Unavailable', 'the Kubernetes API server answered 503'),
    [one('docs', 'Exporting')],
  ]);
  assert.deepEqual(printed.slice(0, 5), [
    'NAME           REASON',
    'docs           Published',
    'guide-of-api   Published',
    'docs           Exporting',
    'team/guide-of-api was deleted.',
  ]);
  assert.deepEqual(notes, ['the Kubernetes API server answered 503']);
  assert.ok(ended instanceof CliError && ended.outcome === 'interrupted');
});

test('the first that appears gets the heading, and a refusal ends it', async () => {
  const refused = new ClusterError('Forbidden', 'not allowed');
  const { printed, ended } = await watch([[], [one('docs', 'Published')], refused]);
  assert.deepEqual(printed, ['There are none.', 'NAME   REASON', 'docs   Published']);
  assert.equal(ended, refused);
});
