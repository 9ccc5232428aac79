// What exports in the demo with a cluster: the operator as a process of its own, and a Secret that is mounted as for a pod.
// Owns the resource and how its status is shown. Invariant: when it is closed, the operator has ended, and the cluster is
// as it was.

import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { CliError } from '#cli/cli-error.ts';
import { until } from '#cli/demo/claims.ts';
import { type DemoLoop, domain } from '#cli/demo/environment.ts';
import type { Progress } from '#cli/output/progress.ts';
import { systemClock as clock } from '#platform/runtime/clock.ts';
import { type ChildProgram, startProgram } from '../support/child-program.ts';
import { findFreePort } from '../support/free-port.ts';
import { mountSecret } from '../support/mounted-secret.ts';
import { type DemoCluster, namespace } from './demo-cluster.ts';

export const resourceName = 'docs';
const inNamespace = `--namespace=${namespace}`;
const operatorFile = join(import.meta.dirname, '../../src/bin/operator.ts');
/** An export of a large site, on a busy machine. */
const timeoutMs = 15 * 60_000;

const resourceStatus = z.looseObject({
  lastHandledRequest: z.string().optional(),
  job: z
    .looseObject({
      id: z.string().optional(),
      state: z.string().optional(),
      progress: z.number().optional(),
      pageCount: z.number().optional(),
    })
    .optional(),
  active: z
    .looseObject({
      version: z.string(),
      jobId: z.string(),
      linkIssueTime: z.string().optional(),
      linkExpirationTime: z.string().optional(),
    })
    .optional(),
  conditions: z.array(z.looseObject({ reason: z.string(), message: z.string().optional() })).default([]),
});
type ResourceStatus = z.infer<typeof resourceStatus>;

/** @param projectId of the project-scoped form */
const manifestOf = (projectId: string | undefined): object => ({
  apiVersion: 'staticexport.dev/v1alpha1',
  kind: 'StaticExport',
  metadata: { name: resourceName, namespace },
  spec: {
    domain,
    api: { ...(projectId !== undefined && { projectId }), keySecretRef: { name: 'export-api' } },
    // A 30-second link is refreshed after 18 s, which the minimum interval of link requests must permit.
    linkRefresh: { atPercent: 60, minInterval: '5s' },
  },
});

type ExportEnd = { readonly version: string } | { readonly code: string; readonly message: string };

export interface OperatorLoop extends DemoLoop {
  /** Undefined before the first run. */
  readonly operatorPid: () => number | undefined;
}

interface LoopOptions {
  /** In a folder of its own. */
  readonly bundleFile: string;
  readonly keyFile: string;
  readonly progress: Progress;
  /** Of the project-scoped form; `undefined` is the first form. */
  readonly projectId: string | undefined;
}

export async function startOperatorLoop(
  cluster: DemoCluster,
  { bundleFile, keyFile, progress: shown, projectId }: LoopOptions,
): Promise<OperatorLoop> {
  let status: ResourceStatus | undefined;
  let operator: ChildProgram | undefined;
  let requests = 0;
  const adminPort = await findFreePort();
  let printed = '';
  const show = createStatusLines(shown);
  const watcher = cluster.watch(
    [
      'get',
      'staticexports.staticexport.dev',
      inNamespace,
      `--field-selector=metadata.name=${resourceName}`,
      '--output=jsonpath={.status}{"\\n"}',
    ],
    (line) => {
      const parsed = line.startsWith('{') ? resourceStatus.safeParse(JSON.parse(line)) : undefined;
      if (parsed?.success !== true) return;
      status = parsed.data;
      show(status);
    },
  );
  const secret = { namespace, name: `${resourceName}-bundle`, key: 'bundle.json' };
  const mount = await mountSecret(cluster.watch, secret, join(bundleFile, '..'));

  const begin = async (apiBaseUrl: string): Promise<void> => {
    const flags = [
      '--allow-private-links',
      `--api-base-url=${apiBaseUrl}`,
      `--admin-listen=127.0.0.1:${adminPort}`,
    ];
    operator = startProgram(process.execPath, {
      args: [operatorFile, ...flags, `--watch-namespaces=${namespace}`, ...cluster.operatorFlags],
      onLine: (line) => {
        printed += `${line}\n`;
      },
    });
    const apiKey = (await readFile(keyFile, 'utf8')).trim();
    const key = {
      ...{ apiVersion: 'v1', kind: 'Secret', stringData: { apiKey } },
      metadata: { name: 'export-api', namespace },
    };
    for (const object of [key, manifestOf(projectId)])
      await cluster.kubectl(['apply', '--filename=-'], JSON.stringify(object));
  };
  /** How the export ended. @param former the job before */
  const endOf = (token: string | undefined, former: string | undefined): ExportEnd | undefined => {
    const { job, active, conditions = [], lastHandledRequest } = status ?? {};
    if (token !== lastHandledRequest || job?.id === undefined || job.id === former) return undefined;
    if (active?.jobId === job.id) return { version: active.version };
    if (job.state === 'failed') return { code: 'JobFailed', message: 'the job failed' };
    const held = conditions.find(({ reason }) => reason === 'PageCountDropped');
    return job.state === 'completed' && held !== undefined
      ? { code: held.reason, message: held.message ?? '' }
      : undefined;
  };
  return {
    linkLifetime: '30s',
    serviceFlags: projectId === undefined ? [] : [`--project=${projectId}=${domain}`],
    bundleFile,
    operatorPid: () => operator?.pid,
    run: async (options, apiBaseUrl, progress, signal) => {
      if (operator === undefined) await begin(apiBaseUrl);
      if (!options.once) {
        if (!signal.aborted) await once(signal, 'abort');
        return;
      }
      const former = status?.job?.id;
      requests += 1;
      const token = options.request ? `request-${requests}` : undefined;
      if (token !== undefined)
        await cluster.kubectl([
          ...['annotate', '--overwrite', 'staticexports.staticexport.dev', resourceName, inNamespace],
          `staticexport.dev/requestedAt=${token}`,
        ]);
      const end = await until(
        'the end of the export',
        async () => {
          progress.advance(status?.job?.progress, `job ${status?.job?.state ?? 'none'}`);
          return endOf(token, former);
        },
        { clock, signal, timeoutMs },
      );
      if ('code' in end) throw new CliError('no', end.code, end.message);
      await until(
        'the version in the mounted Secret',
        async () => ((await readFile(bundleFile, 'utf8')).includes(end.version) ? true : undefined),
        { clock, signal },
      );
    },
    readObjects: async () => {
      const texts = new Map<string, string>();
      const kinds = 'staticexports.staticexport.dev configmaps events events.events.k8s.io leases'.split(' ');
      for (const kind of kinds)
        texts.set(
          kind,
          await cluster.kubectl(['get', kind, inNamespace, '--output=yaml', '--show-managed-fields']),
        );
      const metrics = await fetch(`http://127.0.0.1:${adminPort}/metrics`);
      texts.set('/metrics of the operator', await metrics.text());
      return texts.set('describe', await cluster.kubectl(['describe', 'sx', inNamespace]));
    },
    written: () => new Map([['the log of the operator', printed]]),
    close: async () => {
      await Promise.allSettled([operator?.stop(), mount.stop(), watcher.stop()]);
      await cluster.stop();
    },
  };
}

/** A line for every change of the job and of the link. */
function createStatusLines(progress: Progress): (status: ResourceStatus) => void {
  let lastJob = '';
  let lastIssued: string | undefined;
  return ({ job, active }) => {
    // The project-scoped form reports no pages.
    const pages = job?.pageCount === undefined ? '' : `, ${job.pageCount} pages`;
    const shownJob = `job ${job?.id?.slice(0, 12)} ${job?.state}${pages}`;
    if (job?.state !== undefined && shownJob !== lastJob) progress.note(`   ${shownJob}`);
    lastJob = shownJob;
    const issued = active?.linkIssueTime;
    if (issued === undefined || issued === lastIssued) return;
    const verb = lastIssued === undefined ? 'issued' : 'refreshed';
    lastIssued = issued;
    progress.note(`   link ${verb}: version ${active?.version}, valid until ${active?.linkExpirationTime}`);
  };
}
