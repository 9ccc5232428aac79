// Every name that the resource has in a cluster: group, kind, annotations, labels, the field manager, default
// names. Names are API: a change here breaks users. Refuses: names that belong to one program only.

export const group = 'staticexport.dev';
export const apiVersionName = 'v1alpha1';
export const apiVersion = `${group}/${apiVersionName}`;
export const kind = 'StaticExport';
export const plural = 'staticexports';
export const singular = 'staticexport';
export const shortName = 'sx';
export const category = 'static-export';

/** The manager of every field this project writes by server-side apply. */
export const fieldManager = 'static-export-operator';

export const annotations = {
  /** Asks for one export; the value is a token that `status.lastHandledRequest` echoes. */
  requestedAt: `${group}/requestedAt`,
  /** Names the candidate version that a gate or `Manual` holds back and that shall be published. */
  promote: `${group}/promote`,
  /** On somebody else's object: `<namespace>/<name>` of the StaticExport that may write into it. */
  allowFrom: `${group}/allow-from`,
} as const;

export const labels = {
  /** On a StaticExport: which of several operators of a cluster looks after it (its `--instance`). */
  instance: `${group}/instance`,
} as const;

export const managedByLabels = {
  'app.kubernetes.io/managed-by': fieldManager,
  'app.kubernetes.io/part-of': category,
} as const;

/** Makes Flux reconcile what reads the object when it changes. On the ConfigMap only: the Secret changes with every link. */
export const fluxWatchLabel = { 'reconcile.fluxcd.io/watch': 'Enabled' } as const;

/** Key within the API key's Secret when `keySecretRef.key` is absent. */
export const defaultSecretKey = 'apiKey';

/** Keys of the output Secret and ConfigMap. */
export const outputKeys = {
  bundle: 'bundle.json',
  bundleUrl: 'bundleUrl',
  version: 'version',
  digest: 'digest',
  values: 'values.yaml',
} as const;

/** Name of the output Secret and ConfigMap when `output.name` is absent. */
export function defaultOutputName(name: string): string {
  return `${name}-bundle`;
}
