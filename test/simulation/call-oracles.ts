// The rules of the calls to the export API: a start has a record before it is sent, a refused key is not used, and
// Retry-After is kept. Judged by the calls that the vendor received and the objects that the cluster stored.

import assert from 'node:assert/strict';
import { annotations, defaultStartsPerHour } from '#operator/staticexport/names.ts';
import { parseStaticExport, parseStatus } from '#operator/staticexport/parse.ts';
import { readInstant } from '#platform/wire/instant.ts';
import type { AskedWait, Call } from './fake-vendor.ts';
import { keySecret, requestTimeoutMs, type Simulation, type Step } from './simulation.ts';

const hourMs = 3_600_000;
const maxSends = 3;
const resendGraceMs = 30_000;
const forbiddenRetryMs = 15 * 60_000;
/** By project, a refused key is used again: a plan may change. */
const projectRefusalMs = 24 * hourMs;
const deadLinkMaxWaitMs = 5 * 60_000;
/** Instants are whole seconds. */
const secondMs = 1000;

interface Sent {
  readonly count: number;
  readonly at: number;
}

export class CallOracles {
  readonly #simulation: Simulation;
  #checked = 0;
  readonly #starts = new Map<string, Sent>();
  #counted = 0;
  #startsOfHour: readonly number[] = [];
  readonly #issueKeys = new Set<string | undefined>();
  /** A `Retry-After` that is known to have arrived. */
  #longestWait: AskedWait = { at: 0, until: 0 };
  /** By project, 429 for a start is about starts alone. */
  #longestStartWait: AskedWait = { at: 0, until: 0 };

  constructor(simulation: Simulation) {
    this.#simulation = simulation;
  }

  check(step: Step, hadFaults: boolean): void {
    const { calls, projectStarts } = this.#simulation.vendor;
    for (const call of calls.slice(this.#checked)) {
      if (call.kind === 'start') this.#checkStart(call);
      if (call.kind === 'issue') this.#checkIssued(call);
    }
    const hasStarted = calls.slice(this.#checked).some(({ kind }) => kind === 'start');
    this.#checked = calls.length;
    for (const at of projectStarts.slice(this.#counted)) this.#checkBudget(at);
    this.#counted = projectStarts.length;
    const isPlain = step.error === undefined && !hadFaults;
    if (isPlain && step.callsMade > 0) {
      this.#checkRefused(step);
      this.#checkWaiting(step, this.#longestWait);
      if (hasStarted) this.#checkWaiting(step, this.#longestStartWait);
    }
    if (isPlain) this.#noteWait(step);
  }

  /** Rule 3: recorded first, sent with the record's key, at most three times and not before its answer is overdue. */
  #checkStart({ idempotencyKey, start, at }: Call): void {
    const key = idempotencyKey ?? '';
    assert.ok(key !== '' && key === start?.key, 'a start was sent before its start record was stored');
    const before = this.#starts.get(key);
    const count = (before?.count ?? 0) + 1;
    assert.ok(count <= maxSends, `one start was sent ${count} times`);
    const isEarly = before !== undefined && at - before.at < requestTimeoutMs + resendGraceMs - secondMs;
    const wasSet = before !== undefined && this.#simulation.jumps.wasSetSince(before.at);
    assert.ok(!isEarly || wasSet, 'a start was sent again before its answer was overdue');
    this.#starts.set(key, { count, at });
  }

  /** Rule 8: by project, no hour has more starts than the vendor allows. A clock that was set counts the hours wrongly. */
  #checkBudget(at: number): void {
    this.#startsOfHour = [...this.#startsOfHour.filter((one) => one > at - hourMs), at];
    const first = this.#startsOfHour[0] ?? at;
    const isMany =
      this.#startsOfHour.length > defaultStartsPerHour && !this.#simulation.jumps.wasSetSince(first);
    assert.ok(!isMany, `${this.#startsOfHour.length} starts in one hour`);
  }

  /** Rule 9: each link request has its own key. */
  #checkIssued({ idempotencyKey }: Call): void {
    assert.ok(!this.#issueKeys.has(idempotencyKey), 'two link requests with one Idempotency-Key');
    this.#issueKeys.add(idempotencyKey);
  }

  /** Rule 8: no call with a key that was refused by its status, until its Secret changes or a user requests an export. */
  #checkRefused({ before, startedAt }: Step): void {
    const { refusedKey } = parseStatus(before?.status);
    if (refusedKey === undefined || this.#hasRequest(before)) return;
    const secret = this.#simulation.cluster.secrets.get(`${keySecret.namespace}/${keySecret.name}`);
    const { uid, resourceVersion } = secret?.metadata ?? {};
    if (refusedKey.secretVersion !== `${uid}/${resourceVersion}`) return;
    const { clock } = this.#simulation;
    const now = clock.now() - clock.monotonic() + startedAt;
    const ageMs = now - (readInstant(refusedKey.refusalTime) ?? 0);
    const isOlderThan = (ms: number): boolean => ageMs >= ms - secondMs || ageMs < 0;
    if (refusedKey.reason === 'Forbidden') {
      assert.ok(isOlderThan(forbiddenRetryMs), 'a call with a key that was forbidden a moment ago');
      return;
    }
    const isOfProject =
      parseStaticExport(before ?? { spec: {}, status: {} }).spec?.api.projectId !== undefined;
    assert.ok(isOfProject && isOlderThan(projectRefusalMs), 'a call with a key that was refused');
  }

  /** Rule 8: a received `Retry-After` is kept, but no link stays expired because of it. */
  #checkWaiting({ before, linkBefore, startedAt, processSince }: Step, { at, until }: AskedWait): void {
    const { vendor } = this.#simulation;
    const isOver =
      until <= startedAt + secondMs || at < processSince || this.#simulation.jumps.wasSetSince(at);
    if (isOver || this.#hasRequest(before)) return;
    const expiresAt = linkBefore === undefined ? 0 : (vendor.links.get(linkBefore)?.expiresAt ?? 0);
    const isDead = startedAt >= Math.max(at, expiresAt) + deadLinkMaxWaitMs - 2 * secondMs;
    assert.ok(isDead, `called ${until - startedAt} ms before Retry-After was over`);
  }

  #noteWait({ startedAt }: Step): void {
    const { askedToWait, startsAskedToWait } = this.#simulation.vendor;
    const later = (known: AskedWait, asked: AskedWait): AskedWait =>
      asked.at >= startedAt && asked.until > known.until ? asked : known;
    this.#longestWait = later(this.#longestWait, askedToWait);
    this.#longestStartWait = later(this.#longestStartWait, startsAskedToWait);
  }

  /** A new request bypasses the waits of the operations. */
  #hasRequest(before: Step['before']): boolean {
    const request = before?.metadata.annotations[annotations.requestedAt];
    return request !== undefined && request !== parseStatus(before?.status).lastHandledRequest;
  }
}
