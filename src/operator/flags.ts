// The operator's command line: flags, defaults, help text, and rules that join two flags.
// Names are API, because charts, tests and manifests of users depend on them. No value is a secret: reports of
// `static-export doctor` show them all.

import { defaultLimits } from '#bundle/limits.ts';
import {
  countUpTo,
  hostPort,
  httpUrl,
  list,
  path,
  positiveBytes,
  positiveDuration,
  sizeText,
  text,
  toggle,
} from '#platform/runtime/flags/flag-kinds.ts';
import type { FlagValues, ProgramDescription } from '#platform/runtime/flags/flags.ts';
import { readOriginEntry } from '#platform/wire/http-origin.ts';
import { checkMirrorFlags, mirrorFlags } from './mirror-flags.ts';
import { startsPerHour } from './starts-flag.ts';

/** Kubernetes label values (apimachinery, IsValidLabelValue). */
const labelValue = /^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;

/** Kubernetes names of namespaces (RFC 1123 labels). */
const namespaceName = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/** Four times as many reconciles with six calls each share the memory and connections of one process. */
const mostWorkers = 64;
/** Each is a thread with some tens of megabytes. */
const mostInspections = 64;

const flags = {
  apiBaseUrl: httpUrl.optional(
    'Export API for resources without spec.api.baseUrl; may include a path prefix',
  ),
  allowedApiHosts: list(
    'HOST,...',
    'Export APIs that may receive an API key, in addition to --api-base-url: HOST or HOST:PORT for https, http://HOST:PORT for clear text',
  ),
  allowedGitHosts: list(
    'HOST,...',
    'Hosts of git targets: HOST or HOST:PORT, always https (default: none, so no git target is written)',
  ),
  allowedNotifyHosts: list(
    'HOST,...',
    'Hosts of spec.notify: HOST or HOST:PORT for https, http://HOST:PORT for clear text (default: none, so nothing is sent)',
  ),
  ...mirrorFlags,
  watchNamespaces: list(
    'NAMESPACE,...',
    'Namespaces to watch (default: all). Two operators need disjoint namespaces, or a different --instance',
  ),
  instance: text.optional(
    'Manage only resources with the label staticexport.dev/instance=TEXT (default: resources without the label)',
  ),
  adminListen: hostPort.withDefault('0.0.0.0:8081', 'Address of /livez, /readyz and /metrics'),
  allowPrivateLinks: toggle('Allow links to loopback, private and cluster addresses'),
  allowPrivateGitHosts: toggle(
    'Allow hosts of --allowed-git-hosts at loopback, private and cluster addresses',
  ),
  kubeconfig: path.optional(
    'Kubeconfig file (default: $KUBECONFIG; then in a pod the service account, elsewhere ~/.kube/config)',
  ),
  context: text.optional('Context of the kubeconfig (default: its current one)'),
  workers: countUpTo(mostWorkers).withDefault(
    '4',
    `Concurrent reconciles for each export API host (N, 1–${mostWorkers}). All hosts: up to 4 × N. Edited resources use up to N/2 more`,
  ),
  leaseNamespace: text.optional(
    "Namespace of the leader-election lease (default: the pod's, or the context's)",
  ),
  leaseName: text.withDefault('static-export-operator', 'Name of the leader-election lease'),
  leaseDuration: positiveDuration.withDefault(
    '15s',
    'Time after which another replica replaces a leader that does not renew its lease',
  ),
  requestTimeout: positiveDuration.withDefault('30s', 'Deadline of one request to the export API'),
  startsPerHour,
  clusterTimeout: positiveDuration.withDefault('15s', 'Deadline of one request to the Kubernetes API server'),
  inspectTimeout: positiveDuration.withDefault('15m', 'Deadline to download and inspect one archive'),
  inspectConcurrency: countUpTo(mostInspections).withDefault(
    '2',
    `Archives inspected at the same time (1–${mostInspections}). A namespace that already inspects one does not take the last free slot. --inspect-timeout begins after the wait`,
  ),
  reconcileTimeout: positiveDuration.optional(
    'Deadline of one reconcile, without inspections (default: 5m, or 7 × --request-timeout if longer)',
  ),
  maxArchiveSize: positiveBytes.withDefault(
    sizeText(defaultLimits.maxArchiveBytes),
    'Largest archive to download; the chart sets 1GiB, as for its servers',
  ),
  maxBundleSize: positiveBytes.withDefault(
    sizeText(defaultLimits.maxTotalBytes),
    'Largest archive after decompression; the chart sets 1GiB, as for its servers',
  ),
  extraCaFile: path.optional(
    'PEM file of CA certificates to trust in addition to the system’s, for the export API, links, mirrors and git; read every minute',
  ),
};

/** A link that has expired on first use is issued again at most twice, and each link is probed. */
const callsPerReconcile = 6;

export const operatorProgram: ProgramDescription<typeof flags> = {
  name: 'operator',
  summary: 'keeps StaticExports published: exports, inspects, refreshes links',
  flags,
  check: (values) => {
    if (values.instance !== undefined && !labelValue.test(values.instance)) {
      return '--instance must be a valid label value: letters, digits, "-", "_", ".", at most 63 characters';
    }
    // An API server lists nothing in a namespace that cannot exist: the operator would be ready and manage nothing.
    if (!values.watchNamespaces.every((name) => namespaceName.test(name))) {
      return '--watch-namespaces must be names of namespaces: lower-case letters, digits, "-", at most 63 characters; omit it for all';
    }
    const wrongHost = values.allowedApiHosts.findIndex((entry) => readOriginEntry(entry) === undefined);
    if (wrongHost >= 0) {
      return `--allowed-api-hosts: entry ${wrongHost + 1} must be HOST, HOST:PORT or http://HOST:PORT, without path and wildcard; put an IPv6 address in brackets`;
    }
    const wrongGitHost = values.allowedGitHosts.findIndex(
      (entry) => !(readOriginEntry(entry) ?? '').startsWith('https:'),
    );
    if (wrongGitHost >= 0) {
      return `--allowed-git-hosts: entry ${wrongGitHost + 1} must be HOST or HOST:PORT, without scheme, path and wildcard`;
    }
    const wrongNotifyHost = values.allowedNotifyHosts.findIndex(
      (entry) => readOriginEntry(entry) === undefined,
    );
    if (wrongNotifyHost >= 0) {
      return `--allowed-notify-hosts: entry ${wrongNotifyHost + 1} must be HOST, HOST:PORT or http://HOST:PORT, without path and wildcard; put an IPv6 address in brackets`;
    }
    const wrongMirror = checkMirrorFlags(values);
    if (wrongMirror !== undefined) return wrongMirror;
    if (values.leaseDuration < 3_000) return '--lease-duration must be at least 3s, to be renewed in time';
    if (reconcileTimeoutOf(values) <= callsPerReconcile * values.requestTimeout) {
      return '--reconcile-timeout must exceed 6 × --request-timeout, because a reconcile may issue and probe three links';
    }
    return undefined;
  },
  examples: [
    'operator --api-base-url https://export.example.com/api',
    'operator --kubeconfig ~/.kube/config --context test --watch-namespaces docs \\\n    --api-base-url http://127.0.0.1:8080',
  ],
};

export type OperatorValues = FlagValues<typeof flags>;

const usualReconcileMs = 5 * 60_000;

/** In ms. A long --request-timeout raises the default, so that a user need not set both flags. */
export function reconcileTimeoutOf({
  reconcileTimeout,
  requestTimeout,
}: Pick<OperatorValues, 'reconcileTimeout' | 'requestTimeout'>): number {
  return reconcileTimeout ?? Math.max(usualReconcileMs, (callsPerReconcile + 1) * requestTimeout);
}
