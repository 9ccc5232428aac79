// What the site port and the thread that answers agents have in common. Apart from the thread's own code, which alone loads the library
// of the protocol.

import type { SentError } from '#platform/wire/publishable-error.ts';
import type { MadeFileReader } from '../made/made-file-reader.ts';
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

export type ToolName = 'search' | 'read_page' | 'list_pages';

/** `refused`: the agent can change what it asked for. */
export interface CountedCall {
  readonly tool: ToolName;
  readonly outcome: 'answered' | 'refused' | 'failed';
}

export interface AgentReply {
  readonly status: number;
  readonly contentType: string | undefined;
  readonly body: string;
  /** Calls of tools that the request held, if any. */
  readonly calls?: number;
  /** What came of those calls whose arguments fit their schema. */
  readonly counted?: readonly CountedCall[];
}

/** A bundle that is open for agents. */
export interface AgentSite {
  /** Never rejects. */
  answer(call: AgentCall, signal: AbortSignal): Promise<AgentReply>;
  /** The number of pages that can be searched. Rejects where the index cannot be made. */
  readonly searchable: Promise<number>;
  close(): Promise<void>;
}

/**
 * Where the search of a bundle comes from: from its pages, or from the files that the server makes for its readers, so that one index is
 * made for both. `none`: its index could not be made.
 */
export type SearchSource = 'pages' | 'made-files' | 'none';

/** Files of a search that are there already. */
export type SearchFiles = Pick<MadeFileReader, 'features' | 'sizeOf' | 'read'>;

export interface OpeningSite {
  readonly search: SearchSource;
  /** For `made-files`. Resolves with `undefined` where they did not come about, and may reject. */
  readonly madeFiles?: Promise<SearchFiles | undefined> | undefined;
  /** To be awaited after each page that the index reads. */
  readonly rest: () => Promise<void>;
}

/** To the thread. `made`: follows `open` with the source `made-files`, once these are stored or will not be. */
export type AgentQuestion =
  | { readonly kind: 'open'; readonly content: AgentContent; readonly search: SearchSource }
  | { readonly kind: 'made'; readonly digest: string; readonly isMade: boolean }
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
