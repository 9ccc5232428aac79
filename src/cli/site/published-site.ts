// Where the site that a StaticExport publishes can be read: its link, or its copy in a mirror. Read with the user's own
// permissions. Refuses: any Secret but its output, and any key of that but `bundle.json`.

import { parseServedBundle } from '#bundle/published-bundle.ts';
import { readSecret } from '#operator/kube/objects/stored-object.ts';
import { secrets } from '#operator/kube/transport/resource-path.ts';
import { outputKeys } from '#operator/staticexport/names.ts';
import { parseStaticExport } from '#operator/staticexport/parse.ts';
import { applyDefaults } from '#operator/staticexport/wanted.ts';
import type { Link } from '#platform/wire/link.ts';
import { printable } from '#platform/wire/printable-text.ts';
import { CliError } from '../cli-error.ts';
import { type ClusterFlags, withCluster } from '../cluster/client.ts';
import type { CliContext } from '../context.ts';

/** With a link, a copy in a mirror, or both; `spec.output.link` may be `Never`. */
export interface PublishedSite {
  readonly link: Link | undefined;
  readonly copy: { readonly ref: string; readonly digest: string } | undefined;
  readonly digest: string | undefined;
  readonly version: string | undefined;
}

/** @throws {CliError} `NotPublished` {ClusterError} {PublishableError} */
export async function readPublishedSite(
  name: string,
  flags: ClusterFlags,
  context: CliContext,
): Promise<PublishedSite> {
  const text = await withCluster(flags, context, async ({ read, transport, signal }) => {
    const object = await read(name);
    const { namespace } = object.metadata;
    const { spec, remains } = parseStaticExport(object);
    const usable = spec ?? remains;
    const wanted = usable && applyDefaults({ namespace, name }, usable, { apiBaseUrl: undefined });
    if (wanted === undefined) throw notPublished(name);
    const address = { resource: secrets, namespace, name: wanted.outputName };
    const secret = readSecret(await transport.call({ verb: 'get', method: 'GET', address }, signal));
    const bytes = secret.data[outputKeys.bundle];
    return bytes && Buffer.from(bytes).toString('utf8');
  });
  if (text === undefined) throw notPublished(name);
  const { link, ref, digest, version } = parseServedBundle(text);
  const copy = ref === undefined || digest === undefined ? undefined : { ref, digest };
  if (link === undefined && copy === undefined) throw notPublished(name);
  return { link, copy, digest, version };
}

const notPublished = (name: string): CliError =>
  new CliError('cluster', 'NotPublished', `StaticExport ${printable(name)} has published no version`, {
    next: [`static-export status ${printable(name)}  # says why`],
  });
