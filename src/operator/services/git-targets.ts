// Git targets between reconciles: targets of one repository wait ten seconds for each other and share one commit. Owns
// the waiting, the back-off and what is known of each file. Invariants: targets share a commit only if they share
// namespace, credentials, branches and author, so that no tenant's change is pushed with another's rights;
// and a group has one task at a time.

import type { GitHeads, GitPushResult, GitPushTask } from '#operator/git/push-task.ts';
import type { GitFinding, GitReading, GitTargets, GitWish } from '#operator/loop/ports.ts';
import type { WantedGitTarget } from '#operator/staticexport/wanted.ts';
import type { Clock } from '#platform/runtime/clock.ts';
import type { Random } from '#platform/runtime/random.ts';
import { backOffMs } from '#platform/wire/back-off.ts';
import type { ObjectKey, SecretObject } from '#platform/wire/cluster.ts';
import { readHttpOrigin, readOriginEntry } from '#platform/wire/http-origin.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { type AccessProblem, readGitAccess } from './git-access.ts';
import { contentTextOf, findingOf, isKnownWish, isSameFinding, isSettled } from './git-findings.ts';
import { editOf, type GitEntry, GitGroup, type GitProblem, groupKey } from './git-group.ts';
import { GitSlots } from './git-slots.ts';

/** Targets that come within this time share one commit. */
const windowMs = 10_000;
/** The heads of a repository are compared this often, up to a tenth later. */
const recheckMs = 5 * 60_000;
const pushBackOff = [15_000, 5 * 60_000] as const;
/** Of one commit; the others follow in the next one. */
const mostEdits = 500;
/** Of one namespace; the process does one task at a time. One more is made ready meanwhile. */
const tasksAtOnce = 2;

/** What a push task needs beyond its targets. */
export type GitSettings = Pick<
  GitPushTask,
  'allowedHosts' | 'allowPrivateAddresses' | 'extraCaPem' | 'userAgent' | 'limits'
>;

export interface GitPusher {
  /** @param owner namespaces take turns. @throws {PublishableError}; the signal's reason */
  push(task: GitPushTask, owner: string, signal: AbortSignal): Promise<GitPushResult>;
  /** Reads the heads alone, to compare them with what is known. @throws {PublishableError}; the signal's reason */
  readHeads(task: GitPushTask, owner: string, signal: AbortSignal): Promise<GitHeads>;
}

export interface GitTargetsOptions {
  readonly clock: Pick<Clock, 'after' | 'monotonic'>;
  readonly random: Random;
  readonly pusher: GitPusher;
  /** Read for each task, because extra CA certificates may change. */
  readonly settings: () => Promise<GitSettings>;
  /** Entries as of `--allowed-git-hosts`. */
  readonly allowedHosts: readonly string[];
  readSecret(key: ObjectKey, signal: AbortSignal): Promise<SecretObject | undefined>;
  wake(owner: ObjectKey): void;
  /** Each task's outcome, for metrics. */
  observe(outcome: string, tookMs: number): void;
  readonly signal: AbortSignal;
}

export function createGitTargets(options: GitTargetsOptions): GitTargets {
  return new RepositoryGroups(options);
}

class RepositoryGroups implements GitTargets {
  readonly #options: GitTargetsOptions;
  readonly #entries = new Map<string, Map<string, GitEntry>>();
  readonly #groups = new Map<string, GitGroup>();
  readonly #turns = new GitSlots(tasksAtOnce);

  constructor(options: GitTargetsOptions) {
    this.#options = options;
  }

  find(owner: ObjectKey, id: string, wish: GitWish, isHurried: boolean): GitReading {
    if (!this.#isAllowed(wish.target)) return hostNotAllowed(wish.target);
    const ownerId = `${owner.namespace}/${owner.name}`;
    const known = this.#entries.get(ownerId)?.get(id);
    const isSame = known !== undefined && isKnownWish(known.wish, wish);
    // A contest ends with a new version or spec; the caller then knows of no earlier push.
    const isReopened = known?.finding.kind === 'reverted' && !wish.isWritten;
    if (isSame && !isReopened) {
      if (isHurried && known.finding.kind === 'failed') this.#schedule(known.group, windowMs);
      return readingOf(known);
    }
    if (known !== undefined) this.#drop(known);
    const group = this.#groupOf(owner.namespace, wish.target);
    // A push of other values that began may have reached no status. They are not another client's.
    const sent = known?.sent;
    const isReplaced = sent !== undefined && sent !== contentTextOf(wish);
    const entry: GitEntry = {
      ...{ owner, id, wish, group, sent },
      finding: { kind: 'pending' },
      isWritten: wish.isWritten && !isReplaced,
    };
    group.entries.add(entry);
    const entries = this.#entries.get(ownerId) ?? new Map<string, GitEntry>();
    this.#entries.set(ownerId, entries.set(id, entry));
    if (group.failures === 0 || isHurried) this.#schedule(group, windowMs);
    return entry.finding;
  }

  keep({ namespace, name }: ObjectKey, ids: readonly string[]): void {
    const ownerId = `${namespace}/${name}`;
    for (const [id, entry] of this.#entries.get(ownerId) ?? []) {
      if (!ids.includes(id)) this.#drop(entry);
    }
  }

  #drop(entry: GitEntry): void {
    const { owner, id, group } = entry;
    const ownerId = `${owner.namespace}/${owner.name}`;
    const entries = this.#entries.get(ownerId);
    entries?.delete(id);
    if (entries?.size === 0) this.#entries.delete(ownerId);
    group.entries.delete(entry);
    if (group.entries.size > 0) return;
    group.timer.abort();
    this.#groups.delete(group.key);
  }

  #isAllowed({ url }: WantedGitTarget): boolean {
    const origin = readHttpOrigin(url);
    return (
      origin !== undefined && this.#options.allowedHosts.some((entry) => readOriginEntry(entry) === origin)
    );
  }

  #groupOf(namespace: string, target: WantedGitTarget): GitGroup {
    const key = groupKey(namespace, target);
    const known = this.#groups.get(key);
    if (known !== undefined) return known;
    const group = new GitGroup(namespace, target);
    this.#groups.set(key, group);
    return group;
  }

  /** Never later than what is scheduled already. */
  #schedule(group: GitGroup, inMs: number): void {
    const dueAt = this.#options.clock.monotonic() + inMs;
    if (dueAt >= group.dueAt) return;
    group.dueAt = dueAt;
    if (group.isRunning) return;
    group.timer.abort();
    group.timer = new AbortController();
    const stopped = AbortSignal.any([group.timer.signal, this.#options.signal]);
    this.#options.clock.after(inMs, stopped).then(
      () => this.#run(group),
      () => {},
    );
  }

  async #run(group: GitGroup): Promise<void> {
    group.isRunning = true;
    group.dueAt = Number.POSITIVE_INFINITY;
    const { clock, signal, random } = this.#options;
    const startedAt = clock.monotonic();
    let outcome = 'aborted';
    try {
      outcome = await this.#turns.run(group.namespace, () => this.#bringInStep(group));
    } catch (error) {
      if (signal.aborted) return;
      // A fault of this process must not stop the repository for good.
      outcome = this.#fail(group, [...group.entries], problemOf(error));
    } finally {
      group.isRunning = false;
      this.#options.observe(outcome, clock.monotonic() - startedAt);
    }
    if (group.entries.size === 0) return;
    const dueAt = group.dueAt;
    group.dueAt = Number.POSITIVE_INFINITY;
    const spread = 1 + random.fraction() / 10;
    const waitMs = (backOffMs(pushBackOff, group.failures) || recheckMs) * spread;
    const isMore = [...group.entries].some(({ finding }) => finding.kind === 'pending');
    const nextMs = group.failures === 0 && isMore ? windowMs : waitMs;
    this.#schedule(group, Math.min(nextMs, Math.max(0, dueAt - clock.monotonic())));
  }

  /** @returns the outcome for metrics */
  async #bringInStep(group: GitGroup): Promise<string> {
    const entries = [...group.entries];
    const needy = entries.filter(({ finding }) => !isSettled(finding));
    // The others are compared too, because the new heads say no longer that another commit changed them. What another
    // client reverted is held again once that client corrects it.
    const chosen = [...needy, ...entries.filter(({ finding }) => isSettled(finding))];
    let outcome = 'idle';
    for (let from = 0; from < chosen.length; from += mostEdits) {
      const part = chosen.slice(from, from + mostEdits);
      const task = await this.#taskOf(group, part);
      if ('message' in task) {
        return this.#fail(group, part, task);
      }
      // Nothing is to be written, so unmoved heads end the task.
      const isCheck = needy.length === 0 && from === 0;
      const unmoved = isCheck ? await this.#compareHeads(group, task) : undefined;
      if (unmoved !== undefined) return unmoved;
      outcome = await this.#push(group, task, part);
      if (group.failures > 0) return outcome;
    }
    return outcome;
  }

  /** @returns the outcome for metrics; `undefined` where the heads moved, or none are known */
  async #compareHeads(group: GitGroup, task: GitPushTask): Promise<string | undefined> {
    if (group.heads === undefined) return undefined;
    const { pusher, signal } = this.#options;
    let heads: GitHeads;
    try {
      heads = await pusher.readHeads(task, group.namespace, signal);
    } catch (error) {
      signal.throwIfAborted();
      const problem = problemOf(error);
      this.#note(group, problem);
      return problem.code;
    }
    if (!isSameHeads(heads, group.heads)) return undefined;
    group.failures = 0;
    this.#note(group, undefined);
    return 'unmoved';
  }

  async #push(group: GitGroup, task: GitPushTask, entries: readonly GitEntry[]): Promise<string> {
    const { pusher, signal } = this.#options;
    for (const entry of entries) {
      const { finding, wish } = entry;
      if (!isSettled(finding) && !wish.target.isDryRun) entry.sent = contentTextOf(wish);
    }
    let result: GitPushResult;
    try {
      result = await pusher.push(task, group.namespace, signal);
    } catch (error) {
      signal.throwIfAborted();
      return this.#fail(group, entries, problemOf(error));
    }
    group.failures = 0;
    group.heads = result.heads;
    this.#note(group, undefined);
    const byId = new Map(result.edits.map((edit) => [edit.id, edit]));
    entries.forEach((entry, index) => {
      const edit = byId.get(String(index));
      if (edit === undefined) return;
      const finding = findingOf(edit, entry.wish.target, result.commit);
      entry.isWritten ||= finding.kind === 'held' || finding.kind === 'awaiting-merge';
      this.#tell(entry, finding);
    });
    return result.commit === undefined ? 'unchanged' : 'pushed';
  }

  async #taskOf(
    { namespace, repository }: GitGroup,
    entries: readonly GitEntry[],
  ): Promise<GitPushTask | AccessProblem> {
    const { url, branch, pullRequestBranch, secretName, author } = repository;
    const { readSecret, settings, signal } = this.#options;
    const secret = await readSecret({ namespace, name: secretName }, signal);
    const access = readGitAccess(secretName, secret?.data);
    if ('message' in access) return access;
    return {
      ...(await settings()),
      ...{ url, branch, access, author, edits: entries.map(editOf) },
      ...(pullRequestBranch !== undefined && { pullRequestBranch }),
    };
  }

  /** What is held stays known while the repository cannot be read: nothing says that it changed. @returns the code */
  #fail(group: GitGroup, entries: readonly GitEntry[], problem: GitProblem): string {
    const { code, message } = problem;
    group.failures += 1;
    for (const entry of entries) {
      const isOpen = group.entries.has(entry) && !isSettled(entry.finding);
      if (isOpen) this.#tell(entry, { kind: 'failed', code, message });
    }
    this.#note(group, problem);
    return code;
  }

  /** The message of a settled target shows it. */
  #note(group: GitGroup, problem: GitProblem | undefined): void {
    if (!group.note(problem)) return;
    for (const { owner, finding } of group.entries) {
      if (isSettled(finding)) this.#options.wake(owner);
    }
  }

  #tell(entry: GitEntry, finding: GitFinding): void {
    const isSame = isSameFinding(entry.finding, finding);
    if (!isSame) entry.finding = finding;
    if (!isSame && entry.group.entries.has(entry)) this.#options.wake(entry.owner);
  }
}

const problemOf = (error: unknown): GitProblem =>
  error instanceof PublishableError
    ? error
    : { code: 'Unexpected', message: 'The push failed unexpectedly.', isTemporary: true };

function readingOf({ finding, group: { unread } }: GitEntry): GitReading {
  return unread !== undefined && isSettled(finding) ? { ...finding, unread } : finding;
}

function isSameHeads(one: GitHeads, other: GitHeads): boolean {
  return one.branch === other.branch && one.pullRequestBranch === other.pullRequestBranch;
}

function hostNotAllowed({ url }: WantedGitTarget): GitFinding {
  // The Kubernetes API server accepts URLs that cannot be called, such as one with a port of six digits.
  if (!URL.canParse(url)) {
    const message = 'the URL of the repository is not valid; write it as https://HOST/PATH';
    return { kind: 'failed', code: 'InvalidUrl', message };
  }
  const { host } = new URL(url);
  const message = `the host ${host} is not in --allowed-git-hosts of the operator; add it to targets.git.allowedHosts of the chart`;
  return { kind: 'failed', code: 'HostNotAllowed', message };
}
