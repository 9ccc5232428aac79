// Makes the two ports of the loop that lead out of the cluster, from the flags: the export API and the bundles behind
// its links. Each has one set of connections, with proxies and extra CA certificates. Refuses to read `file:` links,
// because tenants choose the text here.

import { BundleError } from '../../bundle/bundle-error.ts';
import type { ProxySettings } from '../../bundle/fetch/link-agent.ts';
import { probeLink } from '../../bundle/fetch/probe.ts';
import { keepRenewed, RenewedAgent } from '../../bundle/fetch/renewed-agent.ts';
import { type BundleLimits, defaultLimits } from '../../bundle/limits.ts';
import { prepareInWorker } from '../../bundle/prepare/preparation.ts';
import { createExportApiClient } from '../../export-api/client.ts';
import { InspectionPlaces } from '../../loop/inspection-places.ts';
import type { Bundles, ExportApiSource, TargetPlanner } from '../../loop/ports.ts';
import { sizeText } from '../../runtime/flags/flag-kinds.ts';
import { openCaFile } from '../../runtime/http/authorities.ts';
import type { ProgramEdge } from '../../runtime/program.ts';
import { userAgent } from '../../runtime/version.ts';
import type { OperatorValues } from '../flags.ts';
import { createValuesPlanner } from './values-planner.ts';

export interface OutsideFacts {
  /** Program of the worker thread that reads archives. */
  readonly workerUrl: URL;
  /** Program of the worker thread that reads targets' documents. */
  readonly valuesWorkerUrl: URL;
  readonly proxy: ProxySettings;
}

/** Bounds of concurrent work. */
export interface OutsideBounds {
  /** Concurrent reconciles, each with at most one call in progress. */
  readonly callsAtOnce: number;
}

export interface Outside {
  readonly exportApi: ExportApiSource;
  readonly bundles: Bundles;
  readonly planner: TargetPlanner;
  /** Where archives may be read. */
  readonly inspections: InspectionPlaces;
  close(): Promise<void>;
}

/** @throws {PublishableError} `ExtraCaUnreadable`, `ExtraCaInvalid` */
export async function openOutside(
  values: OperatorValues,
  { clock, random, logger }: ProgramEdge,
  { workerUrl, valuesWorkerUrl, proxy, callsAtOnce }: OutsideFacts & OutsideBounds,
): Promise<Outside> {
  const authorities = await openCaFile(values.extraCaFile, (error) => {
    logger.warn({ error }, 'could not reload --extra-ca-file; keeping the loaded CA certificates');
  });
  const { allowPrivateLinks, requestTimeout } = values;
  // Waiting for a connection is part of a call's timeout, and would be reported as a missing answer.
  const agent = { proxy, idleTimeoutMs: requestTimeout, connections: callsAtOnce };
  const extraCaPem = await authorities.current();
  // The operator's owner chooses the export API's address, which may be inside the cluster.
  const apiAgent = new RenewedAgent({ ...agent, allowPrivateLinks: true }, extraCaPem);
  const linkAgent = new RenewedAgent({ ...agent, allowPrivateLinks }, extraCaPem);
  const closing = new AbortController();
  const renewing = keepRenewed([apiAgent, linkAgent], authorities, clock, closing.signal);
  const planner = createValuesPlanner(valuesWorkerUrl, clock);
  const limits = {
    ...defaultLimits,
    maxArchiveBytes: values.maxArchiveSize,
    maxTotalBytes: values.maxBundleSize,
  };
  return {
    exportApi: {
      connect: (baseUrl, key) =>
        createExportApiClient({
          baseUrl,
          key,
          clock,
          timeoutMs: requestTimeout,
          userAgent,
          dispatcher: apiAgent,
        }),
    },
    bundles: {
      inspect: async (link, signal, maxBytes = Number.POSITIVE_INFINITY) => {
        const held = {
          ...limits,
          maxArchiveBytes: Math.min(limits.maxArchiveBytes, maxBytes),
          maxTotalBytes: Math.min(limits.maxTotalBytes, maxBytes),
        };
        const request = { link, storeDir: undefined, expectedDigest: undefined, limits: held };
        const extraCaPem = await authorities.current();
        const index = await prepareInWorker(
          workerUrl,
          { ...request, allowPrivateLinks, extraCaPem, userAgent },
          { signal, clock, random },
        ).catch((error: unknown) => {
          throw withLimit(error, held);
        });
        return { digest: index.digest, pages: index.pages, sizeBytes: index.sizeBytes };
      },
      probe: (link, signal) => {
        const options = {
          allowPrivateLinks,
          dispatcher: linkAgent,
          clock,
          timeoutMs: requestTimeout,
          userAgent,
        };
        return probeLink(link, options, signal);
      },
    },
    planner,
    inspections: new InspectionPlaces(values.inspectConcurrency),
    close: async () => {
      closing.abort();
      await Promise.all([renewing, apiAgent.end(), linkAgent.end(), planner.close()]);
    },
  };
}

/** Adds the limit to an error about a size. */
function withLimit(error: unknown, { maxArchiveBytes, maxTotalBytes }: BundleLimits): unknown {
  if (!(error instanceof BundleError)) return error;
  const { kind, code, message } = error;
  const bytes = new Map([
    ['ArchiveTooLarge', maxArchiveBytes],
    ['ContentTooLarge', maxTotalBytes],
  ]).get(code);
  if (bytes === undefined) return error;
  const words = `${message} (${sizeText(bytes)}: promotion.maxBundleSize, or the operator's own limit)`;
  return new BundleError(kind, code, words, { cause: error });
}
