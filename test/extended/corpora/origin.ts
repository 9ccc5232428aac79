// The origin of a corpus: a server of files, or the program of the site's own packages. It listens on loopback until it is stopped.

import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import sirv from 'sirv';
import { startProgram } from '../../support/child-program.ts';
import { eventually } from '../../support/eventually.ts';
import { findFreePort } from '../../support/free-port.ts';
import { findCorpus } from './build.ts';
import type { Corpus } from './corpus.ts';

export interface CorpusOrigin {
  /** With a slash at its end. */
  readonly url: URL;
  stop(): Promise<void>;
}

export async function startOrigin(corpus: Corpus): Promise<CorpusOrigin> {
  const folder = await findCorpus(corpus);
  const port = await findFreePort();
  const url = new URL(`http://127.0.0.1:${port}/`);
  return {
    url,
    stop: await (corpus.serve === undefined
      ? serveFiles(folder, port)
      : serveByProgram(folder, port, corpus.serve)),
  };
}

async function serveFiles(folder: string, port: number): Promise<() => Promise<void>> {
  const serve = sirv(folder, { extensions: ['html'], dotfiles: true });
  const notFound = await readFile(join(folder, '404.html')).catch(() => 'Not found');
  const server = createServer((request, response) =>
    serve(request, response, () => {
      response.writeHead(404, { 'content-type': 'text/html; charset=utf-8' }).end(notFound);
    }),
  );
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
}

async function serveByProgram(
  folder: string,
  port: number,
  serve: readonly string[],
): Promise<() => Promise<void>> {
  const [program = '', ...flags] = serve.map((word) => (word === 'PORT' ? `${port}` : word));
  const child = startProgram('/bin/sh', {
    args: ['-c', 'cd "$0" && exec "$@"', folder, process.execPath, program, ...flags],
    env: { NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1' },
  });
  await eventually('the origin answers', async () => {
    if (child.hasExited()) throw new Error(child.tail());
    return (await fetch(`http://127.0.0.1:${port}/`)).ok ? true : undefined;
  });
  return () => child.stop('SIGTERM', 5_000);
}
