// Chooses where an archive's bytes come from: a local file or the network. The HTTP client is loaded only for a link
// that needs it, because loading it takes longer than reading a whole site from disk.

import type { ProxySettings } from '#platform/http/proxy-settings.ts';
import type { Link } from '#platform/wire/link.ts';
import type { DownloadOptions } from './download.ts';
import { type LocalArchiveOptions, readLocalArchive } from './local-archive.ts';

export interface FetchOptions extends Omit<DownloadOptions, 'agent'>, LocalArchiveOptions {
  readonly limits: DownloadOptions['limits'];
  readonly allowPrivateLinks: boolean;
  readonly extraCaPem: string | undefined;
  readonly proxy: ProxySettings;
}

/**
 * @returns chunks that the consumer may keep; ending the iteration, or the signal, ends the download
 * @throws {PublishableError} expired-link, transient or rejected; the signal's reason when aborted
 */
export function fetchArchive(link: Link, options: FetchOptions, signal: AbortSignal): AsyncGenerator<Buffer> {
  return link.protocol === 'file:' ? readLocalArchive(link, options) : fetchRemote(link, options, signal);
}

async function* fetchRemote(link: Link, options: FetchOptions, signal: AbortSignal): AsyncGenerator<Buffer> {
  const [{ download }, { createAgent }] = await Promise.all([
    import('./download.ts'),
    import('#platform/http/agent.ts'),
  ]);
  const { allowPrivateLinks, extraCaPem, proxy, limits } = options;
  const { idleTimeoutMs } = limits;
  const agent = createAgent({ allowPrivateAddresses: allowPrivateLinks, extraCaPem, proxy, idleTimeoutMs });
  try {
    yield* download(link, { ...options, agent }, signal);
  } finally {
    await agent.destroy();
  }
}
