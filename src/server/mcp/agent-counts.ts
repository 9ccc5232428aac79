// What is counted of agents: requests by what came of them, and calls of tools. A request only adds to numbers. Refuses names that a
// client chose: every key is one of a fixed list. Invariant: each request is counted once, and each call that its answer holds.

import type { CountedCall, ToolName } from './mcp-task.ts';

/** `refused`: by host, origin, token, method or body. `limited`: too many calls. `unavailable`: nothing could answer. */
export type RequestOutcome = 'answered' | 'refused' | 'limited' | 'unavailable';
export type CallNumbers = Readonly<Record<CountedCall['outcome'], number>>;

export interface AgentNumbers {
  readonly requests: Readonly<Record<RequestOutcome, number>>;
  readonly calls: Readonly<Record<ToolName, CallNumbers>>;
}

export interface AgentCounts {
  /** @param status of the answer */
  countRequest(status: number): void;
  countCalls(calls: readonly CountedCall[]): void;
  /** As they are at that moment. */
  readonly numbers: () => AgentNumbers;
}

export function createAgentCounts(): AgentCounts {
  const requests = { answered: 0, refused: 0, limited: 0, unavailable: 0 };
  const calls = { search: noCalls(), read_page: noCalls(), list_pages: noCalls() };
  return {
    countRequest: (status) => {
      requests[outcomeOf(status)] += 1;
    },
    countCalls: (counted) => {
      for (const { tool, outcome } of counted) calls[tool][outcome] += 1;
    },
    numbers: () => structuredClone({ requests, calls }),
  };
}

const noCalls = (): Record<CountedCall['outcome'], number> => ({ answered: 0, refused: 0, failed: 0 });

function outcomeOf(status: number): RequestOutcome {
  if (status < 400) return 'answered';
  if (status === 429) return 'limited';
  return status < 500 ? 'refused' : 'unavailable';
}
