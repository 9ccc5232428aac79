// The program's flags and its main function: from the command line to a listening receiver and an orderly shutdown. Owns
// the defaults; none of the flags is required.

import { once } from 'node:events';
import { Counter, Histogram, Registry } from 'prom-client';
import { type ConnectionSource, openConnection } from '#operator/kube/transport/connection.ts';
import { createTransport } from '#operator/kube/transport/transport.ts';
import * as kind from '#platform/runtime/flags/flag-kinds.ts';
import type { FlagValues, ProgramDescription } from '#platform/runtime/flags/flags.ts';
import { adminApp } from '#platform/runtime/http/admin-port.ts';
import { type HttpListener, listenHttp } from '#platform/runtime/http/http-listener.ts';
import type { ProgramContext } from '#platform/runtime/program.ts';
import { createClientRate } from './client-rate.ts';
import { createHookTargets } from './hook-target.ts';
import { type HookOutcome, outcomes, receiverApp } from './receiver-app.ts';

const flags = {
  listen: kind.hostPort.withDefault('127.0.0.1:8580', 'Address of POST /hooks/NAMESPACE/NAME'),
  adminListen: kind.hostPort.optional('Address of /livez, /readyz and /metrics. Not served when absent'),
  kubeconfig: kind.path.optional(
    'Kubeconfig file (default: $KUBECONFIG; then in a pod the service account, elsewhere ~/.kube/config)',
  ),
  context: kind.text.optional('Context of the kubeconfig (default: its current one)'),
  clusterTimeout: kind.positiveDuration.withDefault('5s', 'Deadline of one Kubernetes API call'),
  maxBody: kind.positiveBytes.withDefault('256KiB', 'Largest body. A larger one gets 413'),
  clientRate: kind.positiveCount.withDefault(
    '120',
    'Hooks of one client in a minute: so many accepted, and apart from them so many refused',
  ),
  maxConcurrent: kind.positiveCount.withDefault(
    '64',
    'Concurrent hooks, a quarter of them of one client. Above it, a hook gets 503',
  ),
  trustedProxies: kind.list(
    'ADDRESS,...',
    'Proxies whose X-Forwarded-For names the client: addresses and networks such as 10.0.0.0/8. Default: none',
  ),
  drainLinger: kind.duration.withDefault('0s', 'After SIGTERM, how long to keep accepting requests'),
};

export const webhookReceiverProgram: ProgramDescription<typeof flags> = {
  name: 'webhook-receiver',
  summary: 'requests an export when a signed webhook arrives',
  flags,
  examples: [
    'webhook-receiver --listen :8580 --admin-listen :8581',
    'curl -X POST -H "X-Gitlab-Token: $SECRET" \\\n    http://127.0.0.1:8580/hooks/docs/docs',
  ],
};

/** Longer than the reads of a hook usually take. */
const refusalStepMs = 250;
/** How long requests under way may take once the receiver stops. */
const graceMs = 10_000;

/**
 * Runs until `context.shutdown` aborts.
 * @param source whether this is a pod with a service account, and what the environment says
 * @param onListening gets the addresses of both ports
 */
export async function runWebhookReceiver(
  values: FlagValues<typeof flags>,
  context: ProgramContext,
  source: Pick<ConnectionSource, 'isInCluster' | 'environment'>,
  onListening: (url: string, adminUrl: string | undefined) => void = () => {},
): Promise<void> {
  const { clock, logger, shutdown } = context;
  const { kubeconfig, context: kubeContext, clusterTimeout } = values;
  const connection = openConnection({ kubeconfig, context: kubeContext, ...source });
  const transport = createTransport(connection, {
    clock,
    timeoutMs: clusterTimeout,
    callsAtOnce: values.maxConcurrent,
  });
  const metrics = createMetrics();
  const listeners: HttpListener[] = [];
  try {
    const app = receiverApp({
      ...context,
      targets: createHookTargets(transport),
      rates: {
        accepted: createClientRate(clock, values.clientRate),
        refused: createClientRate(clock, values.clientRate),
      },
      maxBodyBytes: values.maxBody,
      maxConcurrent: values.maxConcurrent,
      trustedProxies: values.trustedProxies,
      requestTimeoutMs: 2 * clusterTimeout,
      refusalStepMs,
      onAnswered: metrics.onAnswered,
    });
    const listener = await listenHttp(values.listen, app, clock, {}, { keepsUnused: true });
    listeners.unshift(listener);
    const readiness = () => (listener.isDraining() ? 'stopping' : undefined);
    const pages = adminApp({ readiness, registry: metrics.registry, logger });
    const { adminListen } = values;
    const admin = adminListen === undefined ? undefined : await listenHttp(adminListen, pages, clock);
    if (admin !== undefined) listeners.push(admin);
    logger.info({ address: listener.url, admin: admin?.url }, 'listening');
    onListening(listener.url, admin?.url);
    if (!shutdown.aborted) await once(shutdown, 'abort');
    await listener.close({ lingerMs: values.drainLinger, graceMs });
  } finally {
    for (const listener of listeners) await listener.close({ lingerMs: 0, graceMs: 0 });
    await transport.close();
  }
}

function createMetrics() {
  const registry = new Registry();
  const requests = new Counter({
    name: 'webhook_receiver_requests_total',
    help: 'Requests by outcome',
    labelNames: ['outcome'] as const,
    registers: [registry],
  });
  const seconds = new Histogram({
    name: 'webhook_receiver_request_seconds',
    help: 'How long requests took, by outcome',
    labelNames: ['outcome'] as const,
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  for (const outcome of outcomes) requests.inc({ outcome }, 0);
  return {
    registry,
    onAnswered: (outcome: HookOutcome, took: number): void => {
      requests.inc({ outcome });
      seconds.observe({ outcome }, took);
    },
  };
}
