// Waiting keys, in one queue for each export API host, and the slots that limit how many are reconciled at once. A host
// that hangs fills its own slots only. Edits have slots of their own, so that an edit waits for no restart's list.
// Invariants: a key waits once; a host never exceeds its slots; the host served longest ago is next; in a host, a
// priority that waits is passed over a bounded number of times.

/** The most urgent first: a changed resource, a key whose delay is over, a key of a list. */
export const priorities = ['edited', 'due', 'listed'] as const;
export type Priority = (typeof priorities)[number];

export interface QueueSlots {
  /** Keys of one host that are reconciled at once. */
  readonly perHost: number;
  /** Keys of all hosts that are reconciled at once. */
  readonly total: number;
  /** Additional slots for edits alone: of one host, and of all hosts. */
  readonly edits: number;
}

export interface TakenKey {
  readonly key: string;
  readonly host: string;
  /** As given to `put`. */
  readonly since: number;
  readonly slot: Slot;
}

type Slot = 'edit' | 'normal';

interface WaitingKey {
  readonly host: string;
  readonly priority: Priority;
  readonly since: number;
}

interface HostQueue {
  /** Keys in order of service. */
  readonly waiting: Readonly<Record<Priority, Set<string>>>;
  /** Slots in use. */
  readonly used: Record<Slot, number>;
  /** When the host got a slot last, in turns. */
  readonly servedAt: Record<Slot, number>;
  /** How often a waiting priority was passed over in normal slots. */
  readonly passedOver: Record<Priority, number>;
}

/** After so many keys of higher priority a waiting priority is next. */
export const fairAfter = 8;

export class HostQueues {
  readonly #hostOf: (key: string) => string;
  readonly #slots: QueueSlots;
  readonly #hosts = new Map<string, HostQueue>();
  readonly #waiting = new Map<string, WaitingKey>();
  readonly #used: Record<Slot, number> = { edit: 0, normal: 0 };
  #served = 0;

  constructor(hostOf: (key: string) => string, slots: QueueSlots) {
    this.#hostOf = hostOf;
    this.#slots = slots;
  }

  get size(): number {
    return this.#waiting.size;
  }

  has(key: string): boolean {
    return this.#waiting.has(key);
  }

  /**
   * Adds the key. A key that waits already keeps its time, takes the higher priority, and moves to the queue of the host
   * that it calls now: an edit that leads away from a hanging API waits for no key there.
   *
   * @param since given back by `take`
   * @returns false where the key waited already
   */
  put(key: string, priority: Priority, since: number): boolean {
    const known = this.#waiting.get(key);
    const host = this.#hostOf(key);
    const next = known === undefined ? priority : higherOf(known.priority, priority);
    if (known?.host === host && known.priority === next) return false;
    if (known !== undefined) this.#remove(key, known);
    this.#waiting.set(key, { host, priority: next, since: known?.since ?? since });
    this.#queueOf(host).waiting[next].add(key);
    return known === undefined;
  }

  /** @returns the next key, whose slot is in use until `finish`; `undefined` where no waiting key has a slot */
  take(): TakenKey | undefined {
    const { perHost, total, edits } = this.#slots;
    return (
      this.#takeInto('edit', { ofHost: edits, ofAll: edits }, headOf('edited')) ??
      this.#takeInto('normal', { ofHost: perHost, ofAll: total }, nextKeyOf)
    );
  }

  finish({ host, slot }: Pick<TakenKey, 'host' | 'slot'>): void {
    const queue = this.#queueOf(host);
    queue.used[slot] -= 1;
    this.#used[slot] -= 1;
    this.#dropIfIdle(host, queue);
  }

  clear(): void {
    for (const [key, waiting] of this.#waiting) this.#remove(key, waiting);
  }

  /** There are no more hosts than the operator allows, so that all are looked through. */
  #takeInto(
    slot: Slot,
    { ofHost, ofAll }: { readonly ofHost: number; readonly ofAll: number },
    nextOf: (queue: HostQueue) => string | undefined,
  ): TakenKey | undefined {
    if (this.#used[slot] >= ofAll) return undefined;
    let host: HostQueue | undefined;
    for (const queue of this.#hosts.values()) {
      const isServedLater = host !== undefined && host.servedAt[slot] <= queue.servedAt[slot];
      if (!isServedLater && queue.used[slot] < ofHost && nextOf(queue) !== undefined) host = queue;
    }
    const key = host && nextOf(host);
    const waiting = key === undefined ? undefined : this.#waiting.get(key);
    if (host === undefined || key === undefined || waiting === undefined) return undefined;
    if (slot === 'normal') countPassedOver(host, waiting.priority);
    this.#served += 1;
    host.servedAt[slot] = this.#served;
    host.used[slot] += 1;
    this.#used[slot] += 1;
    this.#remove(key, waiting);
    return { key, host: waiting.host, since: waiting.since, slot };
  }

  #remove(key: string, { host, priority }: WaitingKey): void {
    this.#waiting.delete(key);
    const queue = this.#queueOf(host);
    queue.waiting[priority].delete(key);
    this.#dropIfIdle(host, queue);
  }

  #dropIfIdle(host: string, { waiting, used }: HostQueue): void {
    const isEmpty = priorities.every((priority) => waiting[priority].size === 0);
    if (isEmpty && used.edit === 0 && used.normal === 0) this.#hosts.delete(host);
  }

  #queueOf(host: string): HostQueue {
    const known = this.#hosts.get(host);
    if (known !== undefined) return known;
    const queue: HostQueue = {
      waiting: { edited: new Set(), due: new Set(), listed: new Set() },
      used: { edit: 0, normal: 0 },
      // Behind the other hosts: one that is idle now and then must not be next each time.
      servedAt: { edit: this.#served, normal: this.#served },
      passedOver: { edited: 0, due: 0, listed: 0 },
    };
    this.#hosts.set(host, queue);
    return queue;
  }
}

export const higherOf = (one: Priority, other: Priority): Priority =>
  priorities.indexOf(one) < priorities.indexOf(other) ? one : other;

const headOf =
  (priority: Priority) =>
  ({ waiting }: HostQueue): string | undefined =>
    waiting[priority].values().next().value;

/** The first key of the highest priority, or of one that was passed over often enough. */
function nextKeyOf(queue: HostQueue): string | undefined {
  const waiting = priorities.filter((priority) => queue.waiting[priority].size > 0);
  const [highest] = waiting;
  const next = waiting.find((priority) => queue.passedOver[priority] >= fairAfter) ?? highest;
  return next && headOf(next)(queue);
}

function countPassedOver({ waiting, passedOver }: HostQueue, taken: Priority): void {
  for (const priority of priorities) {
    const isPassedOver = priority !== taken && waiting[priority].size > 0;
    passedOver[priority] = isPassedOver ? passedOver[priority] + 1 : 0;
  }
}
