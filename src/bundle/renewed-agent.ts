// Connections that trust what the file of authorities says now: a renewed authority is trusted without a restart, which
// nobody knows to be needed while links die. Refuses: ending what is under way when the file changes.

import { Dispatcher } from 'undici';
import type { Authorities } from '../runtime/authorities.ts';
import type { Clock } from '../runtime/clock.ts';
import { createLinkAgent, type LinkAgentOptions } from './link-agent.ts';

type AgentOptions = Omit<LinkAgentOptions, 'extraCaPem'>;

/** One agent of those that it was given, for as long as the authorities stay the same. */
export class RenewedAgent extends Dispatcher {
  readonly #options: AgentOptions;
  #pem: string | undefined;
  #current: Dispatcher;

  constructor(options: AgentOptions, extraCaPem: string | undefined) {
    super();
    this.#options = options;
    this.#pem = extraCaPem;
    this.#current = createLinkAgent({ ...options, extraCaPem });
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    return this.#current.dispatch(options, handler);
  }

  /** What is new is sent with these. */
  renew(extraCaPem: string | undefined): void {
    if (extraCaPem === this.#pem) return;
    const before = this.#current;
    this.#pem = extraCaPem;
    this.#current = createLinkAgent({ ...this.#options, extraCaPem });
    // Ends when its last request does; a failure to close idle sockets is nobody's concern.
    void before.close().catch(() => {});
  }

  /** Ends what is under way too. */
  async end(): Promise<void> {
    await this.#current.destroy();
  }
}

/** As often as kubelet writes anew what it mounts. */
const lookEveryMs = 60_000;

/** Runs until the signal aborts; never rejects. */
export async function keepRenewed(
  agents: readonly RenewedAgent[],
  authorities: Authorities,
  clock: Pick<Clock, 'after'>,
  signal: AbortSignal,
): Promise<void> {
  const hasWaited = (): Promise<boolean> =>
    clock.after(lookEveryMs, signal).then(
      () => true,
      () => false,
    );
  while (await hasWaited()) {
    const pem = await authorities.current();
    for (const agent of agents) agent.renew(pem);
  }
}
