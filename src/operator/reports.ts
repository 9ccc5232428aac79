// What the last pass over each resource saw, kept for the metrics until the resource is gone.
// Pages, the last export's times and failures are read from the resource's own status as last watched.

import { isRecord, type JsonRecord, numberAt, recordAt, textAt } from '../kube/json.ts';
import type { Observed, PassOutcome } from '../loop/edge.ts';
import type { ObjectKey } from '../loop/ports.ts';
import type { ResourceReport } from './report-metrics.ts';
import type { Watches } from './watches.ts';

export interface Reports {
  /** A failed pass (`undefined`) leaves what the one before it saw. */
  put(key: ObjectKey, outcome: PassOutcome | undefined): void;
  list(): readonly ResourceReport[];
}

/** A resource whose spec cannot be read: there is nothing to see of it but that it is not ready. */
const unreadable: Observed = {
  isReady: false,
  isSuspended: false,
  exportState: 'unknown',
  linkState: 'unknown',
  wantState: 'unknown',
  action: 'none',
  linkExpiresAt: undefined,
  linkIssuedAt: undefined,
  nextRefreshAt: undefined,
  nextExportAt: undefined,
  failure: 'InvalidSpec',
};

interface Seen {
  readonly key: ObjectKey;
  readonly observed: Observed;
  readonly lifeLeftMs: number | undefined;
}

export function createReports(watches: Pick<Watches, 'get'>): Reports {
  const last = new Map<string, Seen>();
  return {
    put: (key, outcome) => {
      if (outcome === undefined) return;
      const id = `${key.namespace}/${key.name}`;
      const observed = outcome.observed ?? unreadable;
      if (outcome.wakeAfterMs === undefined) last.delete(id);
      else last.set(id, { key, observed, lifeLeftMs: lifeLeft(last.get(id), observed) });
    },
    list: () => [...last].map(([id, seen]) => ({ ...seen, ...readStatus(watches.get(id)?.status) })),
  };
}

/** What the link before had left when this one was issued; kept until the next refresh. */
function lifeLeft(before: Seen | undefined, { linkIssuedAt }: Observed): number | undefined {
  if (before === undefined || linkIssuedAt === undefined) return before?.lifeLeftMs;
  const { linkIssuedAt: earlier, linkExpiresAt } = before.observed;
  const isRefreshed = earlier !== undefined && linkExpiresAt !== undefined && linkIssuedAt > earlier;
  return isRefreshed ? linkExpiresAt - linkIssuedAt : before.lifeLeftMs;
}

function readStatus(found: unknown): Omit<ResourceReport, 'key' | 'observed' | 'lifeLeftMs'> {
  const status: JsonRecord = isRecord(found) ? found : {};
  const active = recordAt(status, 'active');
  const job = recordAt(status, 'job');
  const [startedAt, finishedAt] = [instantAt(job, 'startedAt'), instantAt(job, 'finishedAt')];
  const failures = recordAt(status, 'failures');
  const refused = textAt(recordAt(status, 'refusedKey'), 'reason');
  const refusal = refused === undefined ? [] : [{ lane: 'key', reason: refused, count: 1 }];
  return {
    pages: numberAt(active, 'pages'),
    confirmedAt: instantAt(active, 'checkedAt') ?? instantAt(active, 'exportedAt'),
    exportTookMs: startedAt === undefined || finishedAt === undefined ? undefined : finishedAt - startedAt,
    failures: [
      ...['export', 'poll', 'link'].flatMap((lane) => failureOf(lane, recordAt(failures, lane))),
      ...refusal,
    ],
    conditions: readConditions(status),
  };
}

function failureOf(lane: string, failure: JsonRecord): ResourceReport['failures'] {
  const count = numberAt(failure, 'count') ?? 0;
  return count > 0 ? [{ lane, reason: textAt(failure, 'reason') ?? 'Unknown', count }] : [];
}

function readConditions(status: JsonRecord): ResourceReport['conditions'] {
  const found = status['conditions'];
  return (Array.isArray(found) ? found.filter(isRecord) : []).flatMap((condition) => {
    const [type, state] = [textAt(condition, 'type'), textAt(condition, 'status')];
    if (type === undefined || state === undefined) return [];
    return [{ type, status: state, reason: textAt(condition, 'reason') ?? '' }];
  });
}

function instantAt(record: JsonRecord, name: string): number | undefined {
  const instant = Date.parse(textAt(record, name) ?? '');
  return Number.isNaN(instant) ? undefined : instant;
}
