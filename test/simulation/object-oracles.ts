// The rules of other owners' objects: written only with consent, only our keys, never a declared key by force, never
// in a fight; synced only when the published version is rolled out; and no target delays a reconcile. Changes nothing.

import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { parse } from 'yaml';
import { parseStatus } from '#operator/staticexport/parse.ts';
import type { TargetStatus } from '#operator/staticexport/status-schema.ts';
import type { StaticExportObject } from '#platform/wire/cluster.ts';
import { isRecord } from '#platform/wire/json-text.ts';
import type { ObjectWrite } from './fake-objects.ts';
import { isOwnPath, keyIn, type ObjectTarget, objectTargetName, versionIn } from './object-target.ts';
import type { Simulation, Step } from './simulation.ts';

const fightMs = 10 * 60_000;
/** The first write, and one after each of two reverts. The third revert is left alone. */
const mostWrites = 3;
/** Syncs that fail, with their back-off of 30 s, 1 m, 2 m, 4 m. */
const mostRequests = 6;
/** Until when a reconcile begins targets, the reads and the write of the one that it began last, and slack. */
const longestStepMs = 40_000;
/** The check of a rollout and the check after it, and slack. */
const noticeMs = 3 * 60_000;

/** The writes of the keys and the requests of syncs, since ten minutes and for one wish. */
interface Fight {
  readonly id: string;
  readonly times: readonly number[];
  readonly syncs: readonly number[];
}

export class ObjectOracles {
  readonly #simulation: Simulation;
  readonly #target: ObjectTarget;
  #checked = 0;
  #reads = 0;
  #fight: Fight = { id: '', times: [], syncs: [] };
  #completeSince: number | undefined;

  constructor(simulation: Simulation, target: ObjectTarget) {
    this.#simulation = simulation;
    this.#target = target;
  }

  /** @param isQuiet no fault in this step, and none of its parts failed */
  check(step: Step, isQuiet: boolean): void {
    const { cluster } = this.#simulation;
    const writes = cluster.objects.writes.slice(this.#checked);
    this.#checked = cluster.objects.writes.length;
    const wasRead = cluster.objects.reads > this.#reads;
    this.#reads = cluster.objects.reads;
    for (const write of writes) this.#checkWrite(write);
    this.#checkFight(step, writes, isQuiet);
    if (!isQuiet) {
      this.#completeSince = undefined;
      return;
    }
    for (const { isChange } of writes) assert.ok(isChange, 'an object was written without a change');
    this.#checkTime(step);
    if (wasRead) this.#checkSynced();
    this.#checkNoticed();
  }

  /** At the end, after a calm time. */
  checkSettled(): void {
    const version = this.#simulation.output()?.['version'];
    const { shape, live } = this.#target;
    assert.equal(
      versionIn(shape, this.#target.read() ?? {}),
      version,
      'an object lacks the version after calm',
    );
    assert.equal(live, version, 'the version is not rolled out after calm');
    this.#checkRef('an object lacks the published reference after calm');
  }

  /** The reference of the copy, with its digest, where the target writes them. */
  #checkRef(breach: string): void {
    const { writesRef } = this.#simulation;
    if (!writesRef) return;
    const { digest, ref } = JSON.parse(this.#simulation.output()?.['bundle.json'] ?? '{}');
    const content = this.#target.read() ?? {};
    const held = (['digest', 'ref'] as const).map((name) => keyIn(this.#target.shape, content, name));
    assert.deepEqual(held, [digest, ref], breach);
  }

  #checkWrite(write: ObjectWrite): void {
    const { consent, before, after, overruled } = write;
    assert.equal(consent, 'docs/site', 'an object was written without consent');
    const { isIgnored, shape } = this.#target;
    if (!isIgnored) assert.deepEqual(overruled, [], 'a declared key was taken by force');
    for (const path of changedPointers(before, after)) {
      assert.ok(isOwnPath(shape, path), `a key of another owner was changed: ${path}`);
    }
    // A write of the keys alone keeps the operation that another write requested.
    if (after['operation'] !== undefined && !isDeepStrictEqual(before['operation'], after['operation'])) {
      const phase = /"phase":"(\w+)"/.exec(JSON.stringify(before['status'] ?? {}))?.[1];
      const isRunning = before['operation'] !== undefined || phase === 'Running';
      assert.ok(!isRunning, 'a sync was requested while another runs');
      const isSpare = !isOfKeys(write) && this.#target.isComplete;
      assert.ok(!isSpare, 'a sync was requested for values that are rolled out');
    }
    if (shape === 'Application with text') {
      const [old, now] = [before, after].map((content) => textIn(content));
      assert.deepEqual(withoutKeys(now), withoutKeys(old), 'a value of another owner was changed');
      assert.ok(now?.startsWith('# the site\n'), 'a comment of another owner was changed');
    }
  }

  /** Three reverts in ten minutes are contested, and then the object is left alone. */
  #checkFight({ before }: Step, writes: readonly ObjectWrite[], isQuiet: boolean): void {
    const { clock } = this.#simulation;
    const wish = `${this.#simulation.output()?.['version']} ${before?.metadata.generation} ${clock.now() - clock.monotonic()}`;
    const now = clock.monotonic();
    // A crash or a refused status write may lose a revert.
    const isKnown = isQuiet && this.#fight.id === wish;
    const recent = isKnown ? this.#fight.times.filter((at) => at > now - fightMs) : [];
    const times = [...recent, ...writes.filter(isOfKeys).map(() => now)];
    const syncs = [
      ...(isKnown ? this.#fight.syncs.filter((at) => at > now - fightMs) : []),
      ...writes.filter((one) => one.isChange && !isOfKeys(one)).map(() => now),
    ];
    this.#fight = { id: wish, times, syncs };
    assert.ok(syncs.length <= mostRequests, `${syncs.length} syncs were requested within ten minutes`);
    assert.ok(times.length <= mostWrites, `an object was written ${times.length} times in a fight`);
    // A new spec resumes the writes, maybe only in the reconcile after the next. So does a new version, also where the
    // process that published it ended before its status.
    const target = targetIn(before);
    const isSameSpec = target?.contestedGeneration === before?.metadata.generation;
    const isSameVersion = target?.version === this.#simulation.output()?.['version'];
    const isContested = target?.reason === 'Contested' && isSameSpec && isSameVersion;
    if (isContested && isKnown) assert.equal(writes.length, 0, 'a contested object was written');
  }

  /** The vendor's calls have their own time limits. */
  #checkTime({ startedAt, callsMade }: Step): void {
    const tookMs = this.#simulation.clock.monotonic() - startedAt;
    if (callsMade === 0) assert.ok(tookMs <= longestStepMs, `targets delayed the status by ${tookMs} ms`);
  }

  #checkSynced(): void {
    const status = targetIn(this.#simulation.object());
    const version = this.#simulation.output()?.['version'];
    if (status?.synced !== true || version === undefined) return;
    const { shape, live } = this.#target;
    const held = versionIn(shape, this.#target.read() ?? {});
    assert.equal(held, version, 'an object that is synced holds another version');
    this.#checkRef('an object that is synced holds another reference');
    assert.equal(live, version, 'an object is synced before its rollout ended');
  }

  /** A rollout that ended is shown soon. */
  #checkNoticed(): void {
    const { clock } = this.#simulation;
    const version = this.#simulation.output()?.['version'];
    const { shape, isComplete, isConsenting, isForeign, isPaused } = this.#target;
    const isHeld = version !== undefined && versionIn(shape, this.#target.read() ?? {}) === version;
    const isEnded = isHeld && isComplete && isConsenting && !isForeign && !isPaused;
    const status = targetIn(this.#simulation.object());
    const isWaiting = status?.reason === 'RollingOut' && status.version === version;
    if (!isEnded || !isWaiting) this.#completeSince = undefined;
    else this.#completeSince ??= clock.monotonic();
    const sinceMs = clock.monotonic() - (this.#completeSince ?? clock.monotonic());
    assert.ok(sinceMs <= noticeMs, `a rollout that ended is not shown after ${sinceMs} ms`);
    if (!isWaiting || !isHeld) return;
    const nextMs = this.#simulation.wakeAt - clock.monotonic();
    assert.ok(nextMs <= noticeMs, `a rollout is checked only after ${nextMs} ms`);
  }
}

const isOfKeys = ({ before, after, isChange }: ObjectWrite): boolean =>
  isChange && JSON.stringify(before['spec']) !== JSON.stringify(after['spec']);

const targetIn = (object: StaticExportObject | undefined): TargetStatus | undefined =>
  parseStatus(object?.status).targets?.find(({ name }) => name === objectTargetName);

const textIn = (content: ObjectWrite['before']): string => {
  const found = /"values":"((?:[^"\\]|\\.)*)"/.exec(JSON.stringify(content['spec']))?.[1] ?? '';
  return JSON.parse(`"${found}"`);
};

function withoutKeys(text = ''): unknown {
  const values: unknown = parse(text);
  if (!isRecord(values)) return values;
  const { staticExport, ...rest } = values;
  if (!isRecord(staticExport)) return rest;
  const { version: _version, digest: _digest, ref: _ref, ...others } = staticExport;
  return { ...rest, ...(Object.keys(others).length > 0 && { staticExport: others }) };
}

/** JSON Pointers of the values that differ, into lists too. */
function changedPointers(before: unknown, after: unknown, path = ''): readonly string[] {
  if (isRecord(before) || isRecord(after) || Array.isArray(before) || Array.isArray(after)) {
    const [old, now] = [entriesOf(before), entriesOf(after)];
    return [...new Set([...old.keys(), ...now.keys()])].flatMap((name) =>
      changedPointers(old.get(name), now.get(name), `${path}/${name}`),
    );
  }
  return before === after ? [] : [path];
}

const entriesOf = (value: unknown): ReadonlyMap<string, unknown> =>
  new Map(typeof value === 'object' && value !== null ? Object.entries(value) : []);
