// What the site port and the thread that answers agents have in common. Apart from the thread's own code, which alone loads the library
// of the protocol.

import type { SentError } from '#platform/wire/publishable-error.ts';
import type { OwnHost } from './own-hosts.ts';

/** The folder of a committed bundle. */
export interface AgentContent {
  readonly folder: string;
  readonly digest: string;
  /** Share of one core that the index of its search may take, 1 to 100. */
  readonly cpuPercent: number;
}

/** A call of an agent, as far as its answer depends on it. */
export interface AgentCall {
  /** Lower case, in turns with the values: what the protocol defines, and the two fields of the body. */
  readonly headers: readonly string[];
  readonly body: Uint8Array;
  /** As the caller names this server: with its port, if it has one. */
  readonly host: string;
  /** Names of the site, of `--mcp-hosts`. */
  readonly hosts: readonly OwnHost[];
  /** Of the cards; see `server-cards.ts`. */
  readonly serverName: string;
  /** That addresses of the site begin with: decoded, without trailing slash; empty for the root. */
  readonly basePath: string;
  /** Of the content. */
  readonly version: string | undefined;
}

export interface AgentReply {
  readonly status: number;
  readonly contentType: string | undefined;
  readonly body: string;
  /** Calls of tools that the request held, if any. */
  readonly calls?: number;
}

/** A bundle that is open for agents. */
export interface AgentSite {
  /** Never rejects. */
  answer(call: AgentCall, signal: AbortSignal): Promise<AgentReply>;
  /** The number of pages that can be searched. Rejects where the index cannot be made. */
  readonly searchable: Promise<number>;
  close(): Promise<void>;
}

export interface OpeningSite {
  /** False for a bundle whose index could not be made. */
  readonly isSearched: boolean;
  /** To be awaited after each page that the index reads. */
  readonly rest: () => Promise<void>;
}

/** To the thread. */
export type AgentQuestion =
  | { readonly kind: 'open'; readonly content: AgentContent; readonly isSearched: boolean }
  | { readonly kind: 'call'; readonly id: number; readonly digest: string; readonly call: AgentCall }
  | { readonly kind: 'leave'; readonly id: number };

/** From the thread. `opened`: calls may name that digest. */
export type AgentReport =
  | { readonly kind: 'opened'; readonly digest: string }
  | { readonly kind: 'searchable'; readonly digest: string; readonly pages: number }
  | { readonly kind: 'failed'; readonly digest: string; readonly error: SentError }
  | { readonly kind: 'answer'; readonly id: number; readonly reply: AgentReply };

/** A body that is longer is not read. */
export const maxCallBytes: number = 64 * 1024;
/** An answer that is longer is not sent. */
export const maxReplyCharacters: number = 1024 * 1024;

/** Revisions of the protocol that the library answers, newest first: a card names them before the library is loaded. */
export const protocolVersions: readonly string[] = [
  '2026-07-28',
  '2025-11-25',
  '2025-06-18',
  '2025-03-26',
  '2024-11-05',
  '2024-10-07',
];
