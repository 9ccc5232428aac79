// The services outside the cluster, as the ports that the loop needs: export APIs, the archives behind their links, mirrors,
// and the thread that plans edits of targets. A program without a cluster opens the same ones. Each kind of call has its own
// connections, with proxies and extra CA certificates. Refuses `file:` links, because tenants choose their text.

import { probeLink } from '#bundle/fetch/probe.ts';
import { prepareInWorker } from '#bundle/prepare/preparation.ts';
import { createExportApiClient } from '#export-api/client.ts';
import type { Bundles, ExportApiSource, Inspection, Mirrors, TargetPlanner } from '#operator/loop/ports.ts';
import type { HttpAgent } from '#platform/http/agent.ts';
import { openCaFile } from '#platform/http/ca-certificates.ts';
import type { ProxySettings } from '#platform/http/proxy-settings.ts';
import { keepRenewed, RenewedAgent } from '#platform/http/renewed-agent.ts';
import type { ProgramContext } from '#platform/runtime/program.ts';
import { userAgent } from '#platform/runtime/version.ts';
import { type ArchiveSizes, archiveLimits, withLimit } from './archive-limits.ts';
import type { MirrorHosts } from './mirror-hosts.ts';
import { createMirrors, type PlainInspection } from './mirrors.ts';
import { createTargetPlanner } from './target-planner.ts';

export interface ExternalServicesOptions extends ArchiveSizes {
  /** PEM file of CA certificates to trust in addition to the system's. */
  readonly extraCaFile: string | undefined;
  readonly allowPrivateLinks: boolean;
  /** Deadline of one request, in ms. */
  readonly requestTimeoutMs: number;
  /** Calls of each kind that need not wait for a connection. */
  readonly callsAtOnce: number;
  readonly proxy: ProxySettings;
  /** Program of the worker thread that reads archives. */
  readonly bundleWorker: URL;
  /** Program of the worker thread that reads targets' documents. */
  readonly valuesWorker: URL;
  /** Program of the worker thread that copies bundles to mirrors. */
  readonly mirrorWorker: URL;
  readonly mirrors: MirrorHosts;
}

export interface ExternalServices {
  readonly exportApi: ExportApiSource;
  readonly bundles: Bundles;
  readonly planner: TargetPlanner;
  readonly mirrors: Mirrors;
  /** For webhooks, whose hosts the program's owner chooses: they may be inside the cluster. */
  readonly notifyAgent: HttpAgent;
  /** CA certificates to trust in addition to the system's, as they are now. Never rejects. */
  extraCaPem(): Promise<string | undefined>;
  close(): Promise<void>;
}

/** @throws {PublishableError} `ExtraCaUnreadable`, `ExtraCaInvalid` */
export async function openExternalServices(
  options: ExternalServicesOptions,
  { clock, random, logger }: Omit<ProgramContext, 'shutdown'>,
): Promise<ExternalServices> {
  const { extraCaFile, allowPrivateLinks, requestTimeoutMs, proxy } = options;
  const authorities = await openCaFile(extraCaFile, (error) => {
    logger.warn({ error }, 'could not reload --extra-ca-file; keeping the loaded CA certificates');
  });
  // Waiting for a connection is part of a call's timeout, and would be reported as a missing answer.
  const agent = { proxy, idleTimeoutMs: requestTimeoutMs, connections: options.callsAtOnce };
  const extraCaPem = await authorities.current();
  // The program's owner chooses the export API's address, which may be inside the cluster.
  const apiAgent = new RenewedAgent({ ...agent, allowPrivateAddresses: true }, extraCaPem);
  const linkAgent = new RenewedAgent({ ...agent, allowPrivateAddresses: allowPrivateLinks }, extraCaPem);
  const closing = new AbortController();
  const renewing = keepRenewed([apiAgent, linkAgent], authorities, clock, closing.signal);
  const planner = createTargetPlanner(options.valuesWorker, clock);
  const call = { clock, timeoutMs: requestTimeoutMs, userAgent };
  const inspect = async (request: PlainInspection, signal: AbortSignal): Promise<Inspection> => {
    const { digest, pages, sizeBytes, notes } = await prepareInWorker(
      options.bundleWorker,
      {
        ...{ ...request, storeDir: undefined, allowPrivateLinks, userAgent },
        extraCaPem: await authorities.current(),
      },
      { signal, clock, random },
    ).catch((error: unknown) => {
      throw withLimit(error, request.limits);
    });
    return { digest, pages, sizeBytes, notes };
  };
  const mirrors = createMirrors({
    ...{ program: options.mirrorWorker, hosts: options.mirrors, sizes: options, allowPrivateLinks },
    ...{ extraCaPem: () => authorities.current(), inspect, clock, random },
  });
  return {
    exportApi: {
      connect: (address, key) => createExportApiClient({ ...call, ...address, key, agent: apiAgent }),
    },
    bundles: {
      inspect: (link, signal, maxBytes) => {
        const limits = archiveLimits(options, maxBytes);
        return inspect({ link, limits, expectedDigest: undefined }, signal);
      },
      probe: (link, signal) => probeLink(link, { ...call, agent: linkAgent }, signal),
    },
    planner,
    mirrors,
    notifyAgent: apiAgent,
    extraCaPem: () => authorities.current(),
    close: async () => {
      closing.abort();
      await Promise.all([
        renewing,
        apiAgent.destroy(),
        linkAgent.destroy(),
        planner.close(),
        mirrors.close(),
      ]);
    },
  };
}
