// Searches for keys and links of both tenants where neither may be: log, metrics, statuses, events and ConfigMaps.

import { z } from 'zod';
import { findLeaks } from '../../integration/operator/leak-search.ts';
import { goodKey, signature } from '../../integration/operator/scripted-vendor.ts';
import type { TenantEnvironment } from './environment.ts';
import { hostileKey, hostileSignature } from './vendor.ts';

const needles = [goodKey, signature, hostileKey, hostileSignature];
/** Where it is enough to say that there are more. */
const mostNamed = 12;

const listShape = z.object({
  items: z.array(
    z.looseObject({ kind: z.string(), metadata: z.looseObject({ namespace: z.string(), name: z.string() }) }),
  ),
});

/** As text, with the places found. */
export async function findTenantLeaks({
  cluster,
  operator,
  context,
}: TenantEnvironment): Promise<readonly string[]> {
  const read = async (...args: readonly string[]): Promise<readonly string[]> => {
    const { stdout } = await cluster.kubectl(['get', ...args, '-o', 'json']);
    return listShape
      .parse(JSON.parse(stdout))
      .items.flatMap((object) =>
        findLeaks(object, needles, `${object.kind} ${object.metadata.namespace}/${object.metadata.name}`),
      );
  };
  const spaces = [context.servedNamespace, context.namespace, cluster.operatorNamespace];
  const written = await Promise.all(
    spaces.flatMap((namespace) => [
      read('sx,leases.coordination.k8s.io,events.events.k8s.io', '-n', namespace),
      // Only the hostile tenant's own documents are large.
      read('configmaps', '-n', namespace, '-l', 'reconcile.fluxcd.io/watch=Enabled'),
    ]),
  );
  const pages = await Promise.all(['/metrics', '/livez', '/readyz'].map((path) => operator.get(path)));
  const found = [
    ...written.flat(),
    ...findLeaks(pages, needles, 'admin page'),
    ...findLeaks(operator.log, needles, 'log'),
  ];
  return found.slice(0, mostNamed).map((path) => `a key or a link is at ${path}`);
}
