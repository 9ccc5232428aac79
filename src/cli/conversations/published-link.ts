// The link of what a StaticExport publishes, read with the user's own permissions. Refuses: any Secret but its output, and any key
// of that but `bundle.json`.

import { parseServedBundle } from '../../bundle/published-bundle.ts';
import { readSecret } from '../../kube/objects/stored-object.ts';
import { secrets } from '../../kube/transport/resource-path.ts';
import { outputKeys } from '../../staticexport/names.ts';
import { parseStaticExport } from '../../staticexport/parse.ts';
import { applyDefaults } from '../../staticexport/wanted.ts';
import type { Link } from '../../wire/link.ts';
import { printable } from '../../wire/printable-text.ts';
import { CliError } from '../cli-error.ts';
import { type ClusterFlags, withCluster } from '../cluster/client.ts';
import type { CliContext } from '../context.ts';

export interface PublishedSite {
  readonly link: Link;
  readonly digest: string | undefined;
  readonly version: string | undefined;
}

/** @throws {CliError} `NotPublished`, `NoLink` {ClusterError} */
export async function readPublishedLink(
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
  const { link, digest, version } = parseServedBundle(text);
  if (link === undefined) {
    const message = `StaticExport ${printable(name)} publishes no link; name an archive of the site with --bundle`;
    throw new CliError('usage', 'NoLink', message);
  }
  return { link, digest, version };
}

const notPublished = (name: string): CliError =>
  new CliError('cluster', 'NotPublished', `StaticExport ${printable(name)} has published no version`, {
    next: [`static-export status ${printable(name)} says why`],
  });
