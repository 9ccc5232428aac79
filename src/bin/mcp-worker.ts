// Composition root of the thread that answers agents. Started by server/mcp/mcp-thread.ts. Runs at a low priority, so that serving
// comes first.

import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { systemClock } from '#platform/runtime/clock.ts';
import { serveAgents } from '#server/mcp/mcp-serving.ts';
import { openAgentSite } from '#site/mcp/agent-site.ts';

// On Linux this sets the calling thread alone. A system that refuses it answers at the usual priority.
try {
  setPriority(10);
} catch {}

if (parentPort !== null) {
  serveAgents(parentPort, (bundle, opening) => openAgentSite(bundle, opening, systemClock), systemClock);
}
