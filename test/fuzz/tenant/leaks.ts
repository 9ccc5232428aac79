// Searches for keys and links of both tenants where neither may be: log, metrics, statuses, events and ConfigMaps.

import { z } from 'zod';
import { goodKey, signature } from '../../integration/operator/scripted-vendor.ts';
import { SecretWatch } from '../../support/secret-watch.ts';
import type { TenantEnvironment } from './environment.ts';
import { hostileKey, hostileSignature } from './vendor.ts';

const secrets = {
  'the key': goodKey,
  'the link': signature,
  'the hostile key': hostileKey,
  'the hostile link': hostileSignature,
};
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
  const watch = new SecretWatch();
  for (const [name, secret] of Object.entries(secrets)) watch.declare(name, secret);
  const read = async (...args: readonly string[]): Promise<void> => {
    const { stdout } = await cluster.kubectl(['get', ...args, '-o', 'json']);
    for (const object of listShape.parse(JSON.parse(stdout)).items) {
      const { namespace, name } = object.metadata;
      watch.see(`${object.kind} ${namespace}/${name}`, JSON.stringify(object));
    }
  };
  for (const namespace of [context.servedNamespace, context.namespace, cluster.operatorNamespace]) {
    await read('sx,leases.coordination.k8s.io,events.events.k8s.io', '-n', namespace);
    // Only the hostile tenant's own documents are large.
    await read('configmaps', '-n', namespace, '-l', 'reconcile.fluxcd.io/watch=Enabled');
  }
  for (const path of ['/metrics', '/livez', '/readyz']) watch.see(path, (await operator.get(path)).text);
  for (const line of operator.log) watch.see('the log', line);
  return watch.findings().slice(0, mostNamed);
}
