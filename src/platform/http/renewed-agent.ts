// Connections that trust the current content of the CA file. A renewed CA certificate is trusted without a restart;
// otherwise links would expire before an administrator learned that a restart was needed. Refuses to end requests in
// progress when the file changes.

import { type Clock, hasWaited } from '#platform/runtime/clock.ts';
import { type AgentOptions, type ClosableAgent, createAgent, type HttpAgent } from './agent.ts';
import type { CaCertificates } from './ca-certificates.ts';
import type { HttpAnswer, HttpRequest } from './exchange.ts';

/** At most one agent is replaced a minute, so each has minutes to finish its requests. */
const mostReplaced = 5;

type RenewedOptions = Omit<AgentOptions, 'extraCaPem'>;

/** Uses one inner agent until the CA certificates change, and then makes another. */
export class RenewedAgent implements HttpAgent {
  readonly #options: RenewedOptions;
  /** Each finishes its requests, and its idle connections time out. Closing it would refuse new connections to them. */
  readonly #replaced: ClosableAgent[] = [];
  #pem: string | undefined;
  #current: ClosableAgent;
  #hasEnded = false;

  constructor(options: RenewedOptions, extraCaPem: string | undefined) {
    this.#options = options;
    this.#pem = extraCaPem;
    this.#current = createAgent({ ...options, extraCaPem });
  }

  send(request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer> {
    return this.#current.send(request, signal);
  }

  /** New requests use these certificates. */
  renew(extraCaPem: string | undefined): void {
    if (extraCaPem === this.#pem || this.#hasEnded) return;
    this.#replaced.push(this.#current);
    if (this.#replaced.length > mostReplaced)
      void this.#replaced
        .shift()
        ?.close()
        .catch(() => {});
    this.#pem = extraCaPem;
    this.#current = createAgent({ ...this.#options, extraCaPem });
  }

  async destroy(): Promise<void> {
    this.#hasEnded = true;
    await Promise.all([this.#current, ...this.#replaced].map((agent) => agent.destroy()));
  }
}

/** As often as kubelet updates mounted files. */
const checkEveryMs = 60_000;

/** Runs until the signal aborts; never rejects. */
export async function keepRenewed(
  agents: readonly RenewedAgent[],
  authorities: CaCertificates,
  clock: Pick<Clock, 'after'>,
  signal: AbortSignal,
): Promise<void> {
  while (await hasWaited(clock, checkEveryMs, signal)) {
    const pem = await authorities.current();
    for (const agent of agents) agent.renew(pem);
  }
}
