// The cluster's part of a site of several servers, played: nodes that are drained, one eviction at a time, an empty disk for
// each new server, and a Service in front. The servers are real programs. Invariant: a server is routed to while it is ready, and
// for a while after it was told to end, because endpoints are removed later in a cluster, too.

import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { prepareSite, type ServedSite } from '../../integration/server/served-site.ts';
import { eventually } from '../../support/eventually.ts';
import { portOf } from '../../support/storage-server.ts';

/** The chart's five seconds, shortened together with the lag of endpoints. */
const lingerMs = 1500;
const endpointLagMs = 300;
const readinessPeriodMs = 100;
/** As in the chart: one answer that comes late takes no server out of the Service. */
const failureThreshold = 2;

export interface PlayedServer {
  readonly node: string;
  readonly served: ServedSite;
}

export interface PlayedSite {
  /** Address of the Service. */
  readonly url: string;
  /** Those that were not told to end. */
  readonly servers: () => readonly PlayedServer[];
  /** How many servers were started so far. */
  readonly started: () => number;
  /** Servers from now on are started with what this makes of the others' admin addresses. */
  startWith(flagsOf: (served: ServedSite, others: readonly string[]) => Promise<readonly string[]>): void;
  /** Mounts a `bundle.json` into every server, and into later ones. */
  publish(document: string): Promise<void>;
  /** Resolves when all are ready and the surplus has ended. */
  scale(replicas: number): Promise<void>;
  /** Evicts the node's servers one after the other: the next one when the replacement of the last one is ready. */
  drain(node: string): Promise<void>;
  close(): Promise<void>;
}

interface Pod extends PlayedServer {
  isRouted: boolean;
  isGoing: boolean;
}

/** @param nodes their names. No server runs yet. */
export async function playSite(nodes: readonly string[]): Promise<PlayedSite> {
  const pods = new Set<Pod>();
  let flagsOf: Parameters<PlayedSite['startWith']>[0] = async () => [];
  let document: string | undefined;
  let started = 0;
  const staying = (): readonly Pod[] => [...pods].filter(({ isGoing }) => !isGoing);
  const service = await listen(() => [...pods].filter(({ isRouted }) => isRouted));

  const emptiest = (cordoned: string | undefined): string => {
    const count = (node: string): number => staying().filter((pod) => pod.node === node).length;
    const [first = ''] = nodes.filter((node) => node !== cordoned).toSorted((a, b) => count(a) - count(b));
    return first;
  };
  const start = async (cordoned?: string): Promise<void> => {
    const node = emptiest(cordoned);
    const others = staying().map(({ served }) => new URL(served.admin).host);
    const pod: Pod = { node, served: await prepareSite(), isRouted: false, isGoing: false };
    pods.add(pod);
    started += 1;
    await pod.served.mount(document);
    await pod.served.start('--drain-linger', `${lingerMs}ms`, ...(await flagsOf(pod.served, others)));
    void watchReadiness(pod);
    await eventually('the new server is ready', () => pod.isRouted || undefined);
  };
  const end = async (pod: Pod): Promise<void> => {
    pod.isGoing = true;
    const ended = pod.served.child().stop('SIGTERM', 30_000);
    await sleep(endpointLagMs);
    pod.isRouted = false;
    await ended;
    pods.delete(pod);
    await pod.served.remove();
  };
  return {
    url: `http://127.0.0.1:${portOf(service.server)}`,
    servers: staying,
    started: () => started,
    startWith: (flags) => {
      flagsOf = flags;
    },
    publish: async (text) => {
      document = text;
      for (const { served } of staying()) await served.mount(text);
    },
    scale: async (replicas) => {
      const surplus = staying().slice(replicas);
      const missing = Array.from({ length: Math.max(0, replicas - staying().length) });
      await Promise.all([...surplus.map(end), ...missing.map(() => start())]);
    },
    drain: async (node) => {
      const ends: Promise<void>[] = [];
      for (const pod of staying().filter((one) => one.node === node)) {
        ends.push(end(pod));
        await start(node);
      }
      await Promise.all(ends);
    },
    close: async () => {
      service.close();
      for (const pod of pods) pod.isGoing = true;
      await Promise.all([...pods].map(({ served }) => served.remove()));
    },
  };
}

/** As the kubelet and the endpoint controller do. Ends with the server. */
async function watchReadiness(pod: Pod): Promise<void> {
  let failures = 0;
  while (!pod.isGoing) {
    const isReady = await fetch(`${pod.served.admin}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
    // What is told to end is removed by its own delay.
    failures = isReady ? 0 : failures + 1;
    if (!pod.isGoing) pod.isRouted = isReady || (pod.isRouted && failures < failureThreshold);
    await sleep(readinessPeriodMs);
  }
}

interface Service {
  readonly server: Server;
  close(): void;
}

/** Passes connections on, as kube-proxy does: one server for a whole connection, and none is tried a second time. */
async function listen(routes: () => readonly Pod[]): Promise<Service> {
  const open = new Set<Socket>();
  let turn = 0;
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const all = routes();
    const pod = all[turn++ % all.length];
    if (pod === undefined) {
      client.destroy();
      return;
    }
    const upstream = connect({ port: pod.served.port, host: '127.0.0.1', allowHalfOpen: true });
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(from);
      from.once('close', () => open.delete(from)).once('error', () => to.destroy());
      from.pipe(to);
    }
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    server,
    close: () => {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}
