// The real export service of a test, with a site that it crawls. Both end with the file.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { join } from 'node:path';
import { after } from 'node:test';
import { startProgram } from '../../support/child-program.ts';
import { eventually } from '../../support/eventually.ts';
import { findFreePort } from '../../support/free-port.ts';
import { programFile } from '../../support/program-file.ts';

interface RealExportService {
  readonly url: string;
  readonly admin: string;
}

/** @param pageOf the body of a page of docs.example.com, by its path */
export function startRealExportService(
  folder: string,
  apiKey: string,
  pageOf: (path: string) => string | undefined,
  ...flags: readonly string[]
): Promise<RealExportService> {
  const answer: RequestListener = ({ url = '' }, response) => {
    const page = pageOf(url);
    response.writeHead(page === undefined ? 404 : 200, { 'content-type': 'text/html' });
    response.end(`<!doctype html><html><body>${page ?? 'none'}</body></html>`);
  };
  return exportOrigin(folder, apiKey, answer, ...flags);
}

/** @param answer the origin of docs.example.com. @param flags further ones of the service */
export async function exportOrigin(
  folder: string,
  apiKey: string,
  answer: RequestListener,
  ...flags: readonly string[]
): Promise<RealExportService> {
  const origin = createServer(answer);
  await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
  const address = origin.address();
  assert.ok(typeof address === 'object' && address !== null);
  const data = join(folder, 'export-service');
  mkdirSync(data);
  writeFileSync(join(folder, 'keys'), `${apiKey}\n`, { mode: 0o600 });
  const [port, adminPort] = [await findFreePort(), await findFreePort()];
  const [url, admin] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${adminPort}`];
  const service = startProgram(process.execPath, {
    args: [
      programFile('export-service'),
      `--origin=docs.example.com=http://127.0.0.1:${address.port}`,
      `--keys-file=${join(folder, 'keys')}`,
      ...[`--data=${data}`, `--listen=127.0.0.1:${port}`, `--public-url=${url}`],
      `--admin-listen=127.0.0.1:${adminPort}`,
      ...flags,
    ],
  });
  after(async () => {
    await service.stop();
    origin.closeAllConnections();
    origin.close();
  });
  await eventually('a ready export service', async () => {
    assert.equal(service.hasExited(), false, service.tail());
    return (await fetch(`${admin}/readyz`)).ok || undefined;
  });
  return { url, admin };
}
