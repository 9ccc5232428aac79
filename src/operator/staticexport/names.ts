// Every name of the resource in a cluster: group, kind, annotations, labels, the field manager, and default names.
// Names are API: a change here breaks users. Refuses: names that belong to one program only.

export const group = 'staticexport.dev';
export const apiVersionName = 'v1alpha1';
export const apiVersion = `${group}/${apiVersionName}`;
export const resourceKind = 'StaticExport';
export const plural = 'staticexports';
export const singular = 'staticexport';
export const shortName = 'sx';
export const category = 'static-export';

/** The manager of every field that this project writes by server-side apply. */
export const fieldManager = 'static-export-operator';

export const annotations = {
  /** Requests one export; the value is a token that `status.lastHandledRequest` repeats. */
  requestedAt: `${group}/requestedAt`,
  /** Any new value makes the operator reconcile at once. */
  reconcile: `${group}/reconcile`,
  /** Names the candidate version to publish, if a promotion gate or `Manual` holds it. */
  promote: `${group}/promote`,
  /** Names the candidate version that is never published. It takes precedence over `promote`. */
  reject: `${group}/reject`,
  /** Requests one new link; the value is a token that `status.lastHandledRefresh` repeats. */
  refreshRequestedAt: `${group}/refreshRequestedAt`,
  /** Requests one export after `spec.trigger.quietPeriod`; `status.lastHandledHook` repeats the value. */
  hookRequestedAt: `${group}/hookRequestedAt`,
  /** On another owner's object: `<namespace>/<name>` of the StaticExport that may write into it. */
  allowFrom: `${group}/allow-from`,
  /** On a pod template: the version, the digest and the reference that a `Workload` target wrote. */
  version: `${group}/version`,
  digest: `${group}/digest`,
  ref: `${group}/ref`,
} as const;

export const labels = {
  /** On a StaticExport: which of several operators in a cluster manages it (its `--instance`). */
  instance: `${group}/instance`,
  /** On an output: the name of the StaticExport that publishes it, so that a restored copy finds its owner. */
  export: `${group}/export`,
} as const;

export const managedByLabels = {
  'app.kubernetes.io/managed-by': fieldManager,
  'app.kubernetes.io/part-of': category,
} as const;

/**
 * Makes Flux reconcile the readers of the object when it changes. Only on the ConfigMap, because the Secret changes
 * with every link.
 */
export const fluxWatchLabel = { 'reconcile.fluxcd.io/watch': 'Enabled' } as const;

/** A project id of the vendor: what a path takes as it is, and not only dots. */
export const projectIdPattern = '^[A-Za-z0-9_.~:@+=-]*[A-Za-z0-9_~:@+=-][A-Za-z0-9_.~:@+=-]*$';
export const longestProjectId = 128;

/** What a plan of the vendor has that says nothing else: ten starts in an hour for each organization. */
export const defaultStartsPerHour = 10;
/** The most that a flag sets and a status remembers. */
export const mostStartsPerHour = 100;

/** Key within the API key's Secret when `keySecretRef.key` is absent. */
export const defaultSecretKey = 'apiKey';

/** Key within a webhook's Secret when `trigger.webhook.secretRef.key` is absent. */
export const defaultHookSecretKey = 'secret';

/** Keys of the output Secret and ConfigMap. */
export const outputKeys = {
  bundle: 'bundle.json',
  bundleUrl: 'bundleUrl',
  version: 'version',
  digest: 'digest',
  ref: 'ref',
  values: 'values.yaml',
} as const;

/** Name of the output Secret and ConfigMap when `output.name` is absent. */
export function defaultOutputName(name: string): string {
  return `${name}-bundle`;
}

/** The limit of a label's value. */
const longestLabel = 63;

/** The labels of an output. A longer name than a label may hold is left out. */
export function outputLabels(name: string): Readonly<Record<string, string>> {
  return { ...managedByLabels, ...(name.length <= longestLabel && { [labels.export]: name }) };
}
