// The objects that tests of the operator apply, and the namespace that several of them use.

export const namespace = 'team-a';

export const secretOf = (name: string, stringData: object, where = namespace) => ({
  ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: where } },
  stringData,
});

export const keySecret = (name: string, apiKey: string, where = namespace) =>
  secretOf(name, { apiKey }, where);

/** Of the domain of its name, with the key of Secret `export-api`. */
export const staticExportOf = (
  name: string,
  spec: object = {},
  where = namespace,
  metadata: object = {},
) => ({
  ...{ apiVersion: 'staticexport.dev/v1alpha1', kind: 'StaticExport' },
  metadata: { name, namespace: where, ...metadata },
  spec: { domain: `${name}.example.com`, api: { keySecretRef: { name: 'export-api' } }, ...spec },
});

/** As much of a definition as these tests need; Flux's and Argo CD's own are in the tests with their controllers. */
export function openDefinition(group: string, version: string, kind: string, hasStatus = true): object {
  const plural = `${kind.toLowerCase()}s`;
  const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const names = { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` };
  const served = { name: version, served: true, storage: true, schema: { openAPIV3Schema: open } };
  return {
    ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
    metadata: { name: `${plural}.${group}` },
    spec: {
      ...{ group, scope: 'Namespaced', names },
      versions: [{ ...served, ...(hasStatus && { subresources: { status: {} } }) }],
    },
  };
}
