// The rules of hooks: a burst starts one export, after its quiet period and never before, and none in a back-off. Judged by
// the hooks that were sent, the starts that the vendor received, and the status before them.

import assert from 'node:assert/strict';
import { longestBurst } from '#operator/reconcile/hooks.ts';
import { annotations } from '#operator/staticexport/names.ts';
import { parseStaticExport, parseStatus } from '#operator/staticexport/parse.ts';
import { readInstant } from '#platform/wire/instant.ts';
import type { Call } from './fake-vendor.ts';
import type { Simulation, Step } from './simulation.ts';

/** Of every simulation that sends hooks. */
export const quietMs = 60_000;
/** Instants are whole seconds. */
const secondMs = 1000;

export class HookOracles {
  readonly #simulation: Simulation;
  #checked = 0;
  /** Hooks of a former resource of the same name. */
  #former = 0;
  readonly #starts = new Set<string | undefined>();
  readonly #jobs = new Set<string>();

  constructor(simulation: Simulation) {
    this.#simulation = simulation;
  }

  /** Another resource of the same name, without annotations. */
  startOver(): void {
    this.#former = this.#simulation.hooks.all.length;
  }

  check(step: Step): void {
    const { calls, jobs } = this.#simulation.vendor;
    for (const call of calls.slice(this.#checked)) {
      const isFirst = call.kind === 'start' && !this.#starts.has(call.idempotencyKey);
      if (isFirst) this.#checkStart(call, step);
      if (isFirst) this.#starts.add(call.idempotencyKey);
    }
    this.#checked = calls.length;
    const { job } = this.#simulation.status();
    if (job?.cause === 'Hook' && jobs.has(job.id)) this.#jobs.add(job.id);
    const { length } = this.#simulation.hooks.all;
    assert.ok(this.#jobs.size <= length, `${this.#jobs.size} jobs of ${length} hooks`);
  }

  #checkStart({ start, at }: Call, { before, startedAt }: Step): void {
    if (start?.hook === undefined) return;
    const { hooks, jumps, clock } = this.#simulation;
    const status = parseStatus(before?.status);
    const sent = hooks.all.slice(this.#former).filter((one) => one.at <= at);
    const answered = sent.findIndex(({ token }) => token === status.lastHandledHook);
    const [first] = sent.slice(answered + 1);
    // A start answers the hooks from before its record: one that is sent again, and one that a hook came into.
    const known = sent.findLastIndex(({ token, at: sentAt }) => token === start.hook || sentAt < startedAt);
    const last = start.attempts > 1 ? sent.find(({ token }) => token === start.hook) : sent[known];
    assert.ok(first !== undefined && last !== undefined, 'an export answers a hook that was not sent');
    const wasSet = jumps.wasSetSince(first.at);
    const isQuiet = at >= last.at + quietMs - secondMs;
    const isLong = at >= first.at + longestBurst * quietMs - secondMs;
    assert.ok(wasSet || isQuiet || isLong, `an export answers a hook ${at - last.at} ms after it`);
    if (start.cause !== 'Hook' || wasSet) return;
    const retryAt = readInstant(status.failures?.export?.retryTime) ?? 0;
    const now = clock.now() - clock.monotonic() + at;
    const isSame = status.failures?.export?.subject === start.inputHash;
    assert.ok(!isSame || retryAt <= now + secondMs, `a hook bypassed a back-off of ${retryAt - now} ms`);
  }

  /** After a calm time: the last hook has its export. */
  checkSettled(): void {
    const object = this.#simulation.object();
    if (object === undefined || parseStaticExport(object).spec?.trigger === undefined) return;
    const token = object.metadata.annotations[annotations.hookRequestedAt];
    const { lastHandledHook, hook } = this.#simulation.status();
    assert.equal(lastHandledHook, token, 'no export answers the last hook');
    assert.equal(hook, undefined, 'an answered hook is still recorded');
  }
}
