// What `--mcp` adds to a server, put together: the thread, the token, and the port before the handler of the site. Loaded only with the
// flag. Refuses nothing itself.

import type { ProgramContext } from '#platform/runtime/program.ts';
import type { LiveBundle } from '../content/live-bundle.ts';
import type { BundleServerFlags } from '../server-flags.ts';
import { type AgentNumbers, createAgentCounts } from './agent-counts.ts';
import { createBodyReader } from './call-body.ts';
import { createCallRate } from './call-rate.ts';
import { createMcpPort, type McpPort, type McpPortOptions } from './mcp-port.ts';
import { type AgentState, createMcpThread, startMcpThread } from './mcp-thread.ts';
import { openTokenFile } from './mcp-token.ts';

/** For `/status` and metrics. */
export interface AgentSummary extends AgentNumbers {
  readonly state: AgentState;
  readonly searchedPages: number;
}

export interface Agents extends McpPort {
  /** Opens the bundle that has just become active. @param made as `McpThread.useBundle` says */
  useBundle(bundle: LiveBundle, made?: Promise<boolean>): void;
  readonly summary: () => AgentSummary;
  stop(): Promise<void>;
}

export type AgentFlags = Pick<
  BundleServerFlags,
  'store' | 'encodingCpu' | 'mcpHosts' | 'mcpTokenFile' | 'mcpRate'
>;
export type AgentServing = Pick<McpPortOptions, 'site' | 'always' | 'unread' | 'countReply' | 'accessLog'>;

/**
 * @param program of the thread (`src/bin/mcp-worker.ts`, or where the build put it)
 * @throws {PublishableError} where the file of the token cannot be used
 */
export async function openAgents(
  { store, encodingCpu, mcpHosts, mcpTokenFile, mcpRate }: AgentFlags,
  { clock, logger }: Pick<ProgramContext, 'clock' | 'logger'>,
  serving: AgentServing,
  program: URL,
): Promise<Agents> {
  const report = (error: unknown, areTokensKept: boolean): void => {
    const result = areTokensKept
      ? 'keeping the tokens that were read before'
      : 'refusing all calls until it holds a token';
    logger.warn({ error }, `could not reload --mcp-token-file; ${result}`);
  };
  const token = mcpTokenFile === undefined ? undefined : await openTokenFile(mcpTokenFile, clock, report);
  const thread = createMcpThread({
    ...{ start: () => startMcpThread(program), store, cpuPercent: encodingCpu, clock, logger },
  });
  const { site, always, unread, countReply, accessLog } = serving;
  const counts = createAgentCounts();
  const port = createMcpPort({
    ...{ site, always, unread, countReply, accessLog, token, thread, counts, clock, logger },
    hosts: mcpHosts,
    rate: createCallRate(clock, mcpRate),
    readBody: createBodyReader(clock),
  });
  const summary = (): AgentSummary => ({ ...thread.state(), ...counts.numbers() });
  return { ...port, summary, useBundle: thread.useBundle, stop: thread.stop };
}
