// Connections that trust what the file of authorities says now: a renewed authority is trusted without a restart, which
// nobody knows to be needed while links die. Refuses: ending what is under way when the file changes.

import { Dispatcher } from 'undici';
import type { Clock } from '../../runtime/clock.ts';
import type { Authorities } from '../../runtime/http/authorities.ts';
import { createLinkAgent, type LinkAgentOptions } from './link-agent.ts';

/** At one a minute, long enough for whatever an agent was at. */
const mostReplaced = 5;

type AgentOptions = Omit<LinkAgentOptions, 'extraCaPem'>;

/** One agent of those that it was given, for as long as the authorities stay the same. */
export class RenewedAgent extends Dispatcher {
  readonly #options: AgentOptions;
  /** Each is at work on what it was given, and its connections end by being idle: an agent that closes makes none any more. */
  readonly #replaced: Dispatcher[] = [];
  #pem: string | undefined;
  #current: Dispatcher;
  #hasEnded = false;

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
    if (extraCaPem === this.#pem || this.#hasEnded) return;
    this.#replaced.push(this.#current);
    if (this.#replaced.length > mostReplaced)
      void this.#replaced
        .shift()
        ?.close()
        .catch(() => {});
    this.#pem = extraCaPem;
    this.#current = createLinkAgent({ ...this.#options, extraCaPem });
  }

  /** Ends what is under way too. */
  async end(): Promise<void> {
    this.#hasEnded = true;
    await Promise.all([this.#current, ...this.#replaced].map((agent) => agent.destroy()));
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
