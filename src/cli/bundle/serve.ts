// `bundle serve`: an archive in the browser, served by the bundle server itself. The archive is checked first, so that a
// bad one ends the command with its reason. Invariant: the server's store is a folder of its own, removed at the end.

import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { removeQuietly } from '#bundle/store/store-disk.ts';
import type { HostPort } from '#platform/runtime/http/http-listener.ts';
import type { Logger } from '#platform/runtime/logger.ts';
import { publishableMessage } from '#platform/wire/publishable-error.ts';
import type { CliContext } from '../context.ts';
import { counted } from '../output/amounts.ts';
import type { ArchiveAnswer } from './documents.ts';
import { requirePages, summaryFields } from './inspect.ts';
import { readIndex, type SizeLimits } from './reading.ts';

interface ServeValues extends SizeLimits {
  readonly listen: HostPort;
  readonly basePath: string;
}

export async function serveBundle(
  values: ServeValues,
  [path = '']: readonly string[],
  context: CliContext,
): Promise<ArchiveAnswer<'ServedArchive'>> {
  const { progress, signal, random } = context;
  const index = await readIndex(path, values, context);
  requirePages(index);
  const { host, port } = values.listen;
  const store = join(tmpdir(), `static-export-${random.uuid()}`);
  let url = '';
  const flags = [
    `--bundle-url=${pathToFileURL(resolve(path)).href}`,
    `--version=${index.digest.slice(0, 8)}`,
    `--store=${store}`,
    `--listen=${host.includes(':') ? `[${host}]` : host}:${port}`,
    '--admin-listen=127.0.0.1:0',
    `--base-path=${values.basePath}`,
    `--max-archive-size=${values.maxArchiveSize}`,
    `--max-bundle-size=${values.maxBundleSize}`,
    '--drain-linger=0s',
    '--drain-grace=1s',
  ];
  try {
    await context.serve(
      flags,
      (address) => {
        url = `${address}/`;
        progress.note(`Serving ${counted(index.pages, 'page')} at ${url} (Ctrl-C stops it)`);
      },
      warningsTo(progress),
      signal,
    );
  } finally {
    await removeQuietly(store);
  }
  return { outcome: 'done', kind: 'ServedArchive', fields: { ...summaryFields(index), url }, lines: [] };
}

/** The server writes JSON for a log store; here a person reads it. */
function warningsTo({ note }: Pick<CliContext['progress'], 'note'>): Logger {
  const show = (fields: object, message: string): void =>
    note(`Warning: ${message}${'error' in fields ? `: ${publishableMessage(fields.error)}` : ''}`);
  const log: Logger = { debug: () => {}, info: () => {}, warn: show, error: show, child: () => log };
  return log;
}
