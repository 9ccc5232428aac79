// The services outside the cluster, as the ports that the loop needs: export APIs, the archives behind their links, and
// the thread that plans edits of targets. A program without a cluster opens the same ones. Each kind of call has its own
// connections, with proxies and extra CA certificates. Refuses `file:` links, because tenants choose their text.

import { BundleError } from '../bundle/bundle-error.ts';
import { probeLink } from '../bundle/fetch/probe.ts';
import type { ProxySettings } from '../bundle/fetch/proxy-settings.ts';
import { keepRenewed, RenewedAgent } from '../bundle/fetch/renewed-agent.ts';
import { type BundleLimits, defaultLimits } from '../bundle/limits.ts';
import { prepareInWorker } from '../bundle/prepare/preparation.ts';
import { createExportApiClient } from '../export-api/client.ts';
import type { Bundles, ExportApiSource, TargetPlanner } from '../loop/ports.ts';
import { sizeText } from '../runtime/flags/flag-kinds.ts';
import { openCaFile } from '../runtime/http/ca-certificates.ts';
import type { ProgramContext } from '../runtime/program.ts';
import { userAgent } from '../runtime/version.ts';
import { createTargetPlanner } from './target-planner.ts';

export interface ExternalServicesOptions {
  /** PEM file of CA certificates to trust in addition to the system's. */
  readonly extraCaFile: string | undefined;
  readonly allowPrivateLinks: boolean;
  /** Deadline of one request, in ms. */
  readonly requestTimeoutMs: number;
  readonly maxArchiveBytes: number;
  /** After decompression. */
  readonly maxBundleBytes: number;
  /** Calls of each kind that need not wait for a connection. */
  readonly callsAtOnce: number;
  readonly proxy: ProxySettings;
  /** Program of the worker thread that reads archives. */
  readonly bundleWorker: URL;
  /** Program of the worker thread that reads targets' documents. */
  readonly valuesWorker: URL;
}

export interface ExternalServices {
  readonly exportApi: ExportApiSource;
  readonly bundles: Bundles;
  readonly planner: TargetPlanner;
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
  const apiAgent = new RenewedAgent({ ...agent, allowPrivateLinks: true }, extraCaPem);
  const linkAgent = new RenewedAgent({ ...agent, allowPrivateLinks }, extraCaPem);
  const closing = new AbortController();
  const renewing = keepRenewed([apiAgent, linkAgent], authorities, clock, closing.signal);
  const planner = createTargetPlanner(options.valuesWorker, clock);
  const call = { clock, timeoutMs: requestTimeoutMs, userAgent };
  return {
    exportApi: {
      connect: (baseUrl, key) => createExportApiClient({ ...call, baseUrl, key, dispatcher: apiAgent }),
    },
    bundles: {
      inspect: async (link, signal, maxBytes = Number.POSITIVE_INFINITY) => {
        const limits = {
          ...defaultLimits,
          maxArchiveBytes: Math.min(options.maxArchiveBytes, maxBytes),
          maxTotalBytes: Math.min(options.maxBundleBytes, maxBytes),
        };
        const request = { link, storeDir: undefined, expectedDigest: undefined, limits };
        const { digest, pages, sizeBytes } = await prepareInWorker(
          options.bundleWorker,
          { ...request, allowPrivateLinks, extraCaPem: await authorities.current(), userAgent },
          { signal, clock, random },
        ).catch((error: unknown) => {
          throw withLimit(error, limits);
        });
        return { digest, pages, sizeBytes };
      },
      probe: (link, signal) => probeLink(link, { ...call, allowPrivateLinks, dispatcher: linkAgent }, signal),
    },
    planner,
    extraCaPem: () => authorities.current(),
    close: async () => {
      closing.abort();
      await Promise.all([renewing, apiAgent.end(), linkAgent.end(), planner.close()]);
    },
  };
}

/** Adds the limit to an error about a size. */
function withLimit(error: unknown, limits: BundleLimits): unknown {
  const { maxArchiveBytes, maxTotalBytes, maxFileBytes, maxFiles, maxPathBytes } = limits;
  if (!(error instanceof BundleError)) return error;
  const { kind, code, message } = error;
  const texts: ReadonlyMap<string, string> = new Map([
    ['ArchiveTooLarge', `${sizeText(maxArchiveBytes)}: spec.promotion.maxBundleSize or --max-archive-size`],
    ['ContentTooLarge', `${sizeText(maxTotalBytes)}: spec.promotion.maxBundleSize or --max-bundle-size`],
    ['FileTooLarge', `limit ${sizeText(maxFileBytes)}`],
    ['TooManyFiles', `limit ${maxFiles.toLocaleString('en-US')}`],
    ['PathTooLong', `limit ${maxPathBytes.toLocaleString('en-US')} bytes`],
  ]);
  const limit = texts.get(code);
  return limit === undefined ? error : new BundleError(kind, code, `${message} (${limit})`, { cause: error });
}
