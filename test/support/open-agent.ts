// Connections for tests over loopback. Idle ones keep no process running.

import { createAgent, type HttpAgent } from '#platform/http/agent.ts';

export const openAgent: HttpAgent = createAgent({ allowPrivateAddresses: true, idleTimeoutMs: 60_000 });
