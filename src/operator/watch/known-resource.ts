// What the operator remembers of a resource between reconciles: when it changed, which export API it calls, and what its
// status has for the metrics. Each reconcile reads everything else. Ten thousand resources are kept, so annotations are
// kept as their digest and recurring texts once. Pure but for those texts.

import { createHash } from 'node:crypto';
import { type StartTimes, startBudgetId } from '#operator/loop/calls/start-times.ts';
import type { StartDelay } from '#operator/reconcile/start-budget.ts';
import { defaultSecretKey, mostStartsPerHour } from '#operator/staticexport/names.ts';
import { targetReasons } from '#operator/staticexport/reasons.ts';
import { targetTypes } from '#operator/staticexport/target-schema.ts';
import type { ObjectMeta, StaticExportObject } from '#platform/wire/cluster.ts';
import { readInstant } from '#platform/wire/instant.ts';
import { type JsonRecord, numberAt, recordAt, textAt } from '#platform/wire/json-fields.ts';
import { isRecord } from '#platform/wire/json-text.ts';
import { apiHostOf } from '../queue/api-host.ts';

export interface StatusSummary {
  readonly pages: number | undefined;
  /** Epoch ms. */
  readonly confirmedAt: number | undefined;
  /** Epoch ms, of the published link. */
  readonly linkExpiresAt: number | undefined;
  /** Of the last finished job. */
  readonly exportTookMs: number | undefined;
  /** Failures in a row, by what they hold up (`export`, `start`, `poll`, `link`, `mirror`, `retention`); 1 for a refused `key`. */
  readonly failures: readonly {
    readonly operation: string;
    readonly reason: string;
    readonly count: number;
  }[];
  /** By the name of the target in spec.targets. */
  readonly targets: readonly {
    readonly target: string;
    readonly type: string;
    readonly reason: string;
    readonly isSynced: boolean;
  }[];
  /** Reasons are few and documented. */
  readonly conditions: readonly {
    readonly type: string;
    readonly status: string;
    readonly reason: string;
  }[];
}

export interface KnownResource {
  readonly metadata: ObjectMeta;
  readonly apiHost: string;
  /** The lease of the operator that wrote the status. `undefined`: an older version, or no status yet. */
  readonly operatorLease: string | undefined;
  readonly status: StatusSummary;
  /** By project, the key whose starts are counted, as `startBudgetId`. */
  readonly startBudget: string | undefined;
  /** Epoch ms. */
  readonly startTimes: readonly number[];
}

export function knownOf({ metadata, spec, status }: StaticExportObject): KnownResource {
  const operatorLease = isRecord(status) ? textAt(status, 'operatorLease') : undefined;
  return {
    metadata: identityOf(metadata),
    apiHost: intern(apiHostOf(spec)),
    operatorLease: operatorLease === undefined ? undefined : intern(operatorLease),
    status: summarizeStatus(status),
    startBudget: startBudgetOf(metadata, spec),
    startTimes: sharedIfEmpty(readTimes(status)),
  };
}

function startBudgetOf({ namespace }: ObjectMeta, spec: unknown): string | undefined {
  const api = recordAt(isRecord(spec) ? spec : {}, 'api');
  if (textAt(api, 'projectId') === undefined) return undefined;
  const { name = '', key = defaultSecretKey } = {
    name: textAt(recordAt(api, 'keySecretRef'), 'name'),
    key: textAt(recordAt(api, 'keySecretRef'), 'key'),
  };
  return intern(startBudgetId({ namespace }, { keySecret: { name, key } }));
}

function readTimes(status: unknown): readonly number[] {
  const found = isRecord(status) ? status['startTimes'] : undefined;
  return (Array.isArray(found) ? found.slice(-mostStartsPerHour) : []).flatMap((time) =>
    typeof time === 'string' ? (readInstant(time) ?? []) : [],
  );
}

/** The starts of all resources with one key, by resource. */
export function startTimesIn(
  known: Iterable<readonly [key: string, one: KnownResource | undefined]>,
  budget: string,
): StartTimes {
  const times = new Map<string, readonly number[]>();
  for (const [key, one] of known) {
    if (one?.startBudget === budget && one.startTimes.length > 0) times.set(key, one.startTimes);
  }
  return times;
}

/** @param found a status as stored, of any shape */
export function summarizeStatus(found: unknown): StatusSummary {
  const status: JsonRecord = isRecord(found) ? found : {};
  const active = recordAt(status, 'active');
  const job = recordAt(status, 'job');
  const [startedAt, completedAt] = [timeAt(job, 'startTime'), timeAt(job, 'completionTime')];
  const failures = recordAt(status, 'failures');
  const refused = textAt(recordAt(status, 'refusedKey'), 'reason');
  const refusal = refused === undefined ? [] : [{ operation: 'key', reason: intern(refused), count: 1 }];
  return {
    pages: numberAt(active, 'pages'),
    confirmedAt: timeAt(active, 'lastCheckTime') ?? timeAt(active, 'exportTime'),
    linkExpiresAt: timeAt(active, 'linkExpirationTime'),
    exportTookMs: startedAt === undefined || completedAt === undefined ? undefined : completedAt - startedAt,
    failures: sharedIfEmpty([
      ...['export', 'start', 'poll', 'link', 'mirror', 'retention'].flatMap((operation) =>
        failureOf(operation, recordAt(failures, operation)),
      ),
      ...refusal,
    ]),
    targets: sharedIfEmpty(readTargets(status)),
    conditions: sharedIfEmpty(readConditions(status)),
  };
}

/** Milliseconds until the published link expires, negative afterwards. @param now epoch ms */
export function linkRemainingMs(known: KnownResource | undefined, now: number): number | undefined {
  const expiresAt = known?.status.linkExpiresAt;
  return expiresAt === undefined ? undefined : expiresAt - now;
}

/** Only identity, and what decides whether a change wakes the key. */
function identityOf(metadata: ObjectMeta): ObjectMeta {
  const { generation, deletionTimestamp } = metadata;
  return {
    namespace: intern(metadata.namespace),
    name: metadata.name,
    uid: metadata.uid,
    resourceVersion: metadata.resourceVersion,
    ...(generation !== undefined && { generation }),
    ...(deletionTimestamp !== undefined && { deletionTimestamp }),
    annotations: digestOf(metadata.annotations),
    labels: nothing,
    ownerReferences: none,
  };
}

const nothing: Readonly<Record<string, string>> = {};
const none: readonly never[] = [];

/** Only compared; an annotation may have 256 KiB. */
function digestOf(annotations: ObjectMeta['annotations']): ObjectMeta['annotations'] {
  const entries = Object.entries(annotations).sort(([a], [b]) => (a < b ? -1 : 1));
  if (entries.length === 0) return nothing;
  return { digest: createHash('sha256').update(JSON.stringify(entries)).digest('base64') };
}

function sharedIfEmpty<T>(list: readonly T[]): readonly T[] {
  return list.length === 0 ? none : list;
}

function failureOf(operation: string, failure: JsonRecord): StatusSummary['failures'] {
  const count = numberAt(failure, 'count') ?? 0;
  const reason = textAt(failure, 'reason') ?? 'Unknown';
  // A schedule that keeps its distance is planned.
  const isPlanned = reason === ('StartsSpread' satisfies StartDelay['code']);
  return count > 0 && !isPlanned ? [{ operation, reason: intern(reason), count }] : [];
}

/** As many as the CRD allows, whatever is stored. */
const mostTargets = 16;

function readTargets(status: JsonRecord): StatusSummary['targets'] {
  const found = status['targets'];
  return (Array.isArray(found) ? found.filter(isRecord).slice(0, mostTargets) : []).flatMap((one) => {
    const name = textAt(one, 'name');
    if (name === undefined) return [];
    const [type = '', reason = ''] = [textAt(one, 'type'), textAt(one, 'reason')];
    return [{ target: intern(name), ...ofTarget(type, reason), isSynced: one['synced'] === true }];
  });
}

/** Labels have known values only, whatever is stored. */
const ofTarget = (type: string, reason: string) => ({
  type: targetTypes.options.find((one) => one === type) ?? '',
  reason: Object.keys(targetReasons).find((one) => one === reason) ?? '',
});

function readConditions(status: JsonRecord): StatusSummary['conditions'] {
  const found = status['conditions'];
  return (Array.isArray(found) ? found.filter(isRecord) : []).flatMap((condition) => {
    const [type, state] = [textAt(condition, 'type'), textAt(condition, 'status')];
    if (type === undefined || state === undefined) return [];
    return [{ type: intern(type), status: intern(state), reason: intern(textAt(condition, 'reason') ?? '') }];
  });
}

function timeAt(record: JsonRecord, name: string): number | undefined {
  const instant = Date.parse(textAt(record, name) ?? '');
  return Number.isNaN(instant) ? undefined : instant;
}

const texts = new Map<string, string>();
/** Other clients may write conditions with any reason. */
const maxTexts = 2_000;

/** The same string as before, where parsing JSON would keep a new one each time. */
function intern(text: string): string {
  const known = texts.get(text);
  if (known !== undefined) return known;
  if (texts.size < maxTexts) texts.set(text, text);
  return text;
}
