// The operator's command line. Names are API: charts, tests and people's manifests use them.
// Owns the words of --help and the defaults; what needs a second flag to make sense is checked here too.

import { defaultLimits } from '../bundle/limits.ts';
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
} from '../runtime/flags/flag-kinds.ts';
import type { FlagValues, ProgramDescription } from '../runtime/flags/flags.ts';
import { readOriginEntry } from '../wire/http-origin.ts';

/** Kubernetes label values (apimachinery, IsValidLabelValue). */
const labelValue = /^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;

/** Kubernetes names of namespaces (RFC 1123 labels). */
const namespaceName = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/** Four times as many passes, and half a dozen calls of each, share the memory and the connections of one process. */
const mostWorkers = 64;
/** Each is a thread with some tens of megabytes. */
const mostInspections = 64;

const flags = {
  apiBaseUrl: httpUrl.optional('Export API for resources that name none; may carry a path prefix'),
  allowedApiHosts: list(
    'HOST,...',
    'What an API key may be sent to in addition to --api-base-url: HOST or HOST:PORT for https, http://HOST:PORT for clear text',
  ),
  watchNamespaces: list(
    'NAMESPACE,...',
    'Namespaces to look after (default: all); none that another operator looks after, unless --instance tells them apart',
  ),
  instance: text.optional(
    'Look after the resources labelled staticexport.dev/instance=TEXT only (default: those without the label)',
  ),
  adminListen: hostPort.withDefault('0.0.0.0:8081', 'Where /livez, /readyz and /metrics are answered'),
  allowPrivateLinks: toggle('Let bundle links lead to loopback, private and cluster addresses'),
  kubeconfig: path.optional(
    'Kubeconfig to use (default: the service account in a pod; anywhere else $KUBECONFIG, or ~/.kube/config)',
  ),
  context: text.optional('Context of the kubeconfig (default: its current one)'),
  workers: countUpTo(mostWorkers).withDefault(
    '4',
    `Resources of one export API worked on at once, ${mostWorkers} at most, of all together four times as many; half as many more if edited`,
  ),
  leaseNamespace: text.optional(
    "Namespace of the leader-election lease (default: the pod's, or the context's)",
  ),
  leaseName: text.withDefault('static-export-operator', 'Name of the leader-election lease'),
  leaseDuration: positiveDuration.withDefault('15s', 'A silent leader is replaced after this'),
  requestTimeout: positiveDuration.withDefault('30s', 'Deadline of one export-API request'),
  clusterTimeout: positiveDuration.withDefault('15s', 'Deadline of one request to the API server'),
  inspectTimeout: positiveDuration.withDefault('15m', 'Deadline of downloading and reading one archive'),
  inspectConcurrency: countUpTo(mostInspections).withDefault(
    '2',
    `Archives downloaded and read at the same time, ${mostInspections} at most. Namespaces take turns, and one that reads an archive does not take the last free slot: of 2, each reads 1 at a time. The deadline begins after the wait`,
  ),
  passTimeout: positiveDuration.optional(
    'Deadline of one pass over a resource; archives are read between passes and have their own (default: 5m, or seven of --request-timeout where these are more)',
  ),
  maxArchiveSize: positiveBytes.withDefault(
    sizeText(defaultLimits.maxArchiveBytes),
    'Largest archive to download; the chart sets 1GiB, which is what its servers take',
  ),
  maxBundleSize: positiveBytes.withDefault(
    sizeText(defaultLimits.maxTotalBytes),
    'Largest archive once decompressed; the chart sets 1GiB, which is what its servers take',
  ),
  extraCaFile: path.optional(
    'PEM of authorities to trust beside the system, for the export API and for links; read again every minute',
  ),
};

/** A link that is dead on arrival is issued again, twice at most, and each is asked for one byte. */
const callsPerPass = 6;

export const operatorProgram: ProgramDescription<typeof flags> = {
  name: 'operator',
  summary: 'keeps StaticExports published: exports, checks, refreshes links',
  flags,
  check: (values) => {
    if (values.instance !== undefined && !labelValue.test(values.instance)) {
      return '--instance must be usable as a label value: letters, digits, "-", "_", ".", 63 at most';
    }
    // An API server lists nothing in a namespace that cannot be, and the operator would be ready and look after nothing.
    if (!values.watchNamespaces.every((name) => namespaceName.test(name))) {
      return '--watch-namespaces must be names of namespaces: small letters, digits, "-", 63 at most; leave it out for all';
    }
    const wrongHost = values.allowedApiHosts.findIndex((entry) => readOriginEntry(entry) === undefined);
    if (wrongHost >= 0) {
      return `--allowed-api-hosts: entry ${wrongHost + 1} must be HOST, HOST:PORT or http://HOST:PORT, without path and wildcard; put an IPv6 address in brackets`;
    }
    if (values.leaseDuration < 3_000) return '--lease-duration must be at least 3s, to be renewed in time';
    if (passTimeoutOf(values) <= callsPerPass * values.requestTimeout) {
      return '--pass-timeout must be longer than six of --request-timeout: a pass may issue and probe three links';
    }
    return undefined;
  },
  examples: [
    'operator --api-base-url https://export.example.com/api',
    'operator --kubeconfig ~/.kube/config --context test --watch-namespaces docs \\\n    --api-base-url http://127.0.0.1:8080',
  ],
};

export type OperatorValues = FlagValues<typeof flags>;

const usualPassMs = 5 * 60_000;

/** In ms. A call that may take long is reason enough for a long pass: nobody should have to know of both flags. */
export function passTimeoutOf({
  passTimeout,
  requestTimeout,
}: Pick<OperatorValues, 'passTimeout' | 'requestTimeout'>): number {
  return passTimeout ?? Math.max(usualPassMs, (callsPerPass + 1) * requestTimeout);
}
