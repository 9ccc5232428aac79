// Real npm asks a registry for advisories: what it prints is read, and a registry without that service is no failure.

import assert from 'node:assert/strict';
import { copyFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import { join, resolve } from 'node:path';
import { type TestContext, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { z } from 'zod';
import { askNpm } from '../../../packaging/release/npm-audit.ts';
import { releaseEnvironment } from '../../../packaging/release/tool.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const project = resolve(import.meta.dirname, '../../..');
const askedShape = z.record(z.string(), z.array(z.string()));

async function askRegistry(
  t: TestContext,
  answer: (asked: z.infer<typeof askedShape>, response: ServerResponse) => void,
  settings: Readonly<Record<string, string>> = {},
) {
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    if (request.method !== 'POST') response.writeHead(404).end('{}');
    else
      answer(
        askedShape.parse(
          JSON.parse(String(request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body)),
        ),
        response,
      );
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  t.after(() => server.close());
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const folder = temporaryFolder(t);
  for (const name of ['package.json', 'package-lock.json'])
    await copyFile(join(project, name), join(folder, name));
  const env = {
    ...releaseEnvironment(process.env, 0),
    ...settings,
    npm_config_registry: `http://127.0.0.1:${port}/`,
    npm_config_cache: join(folder, 'cache'),
  };
  return askNpm(new Set(['undici', 'typescript']), { cwd: folder, env });
}

test('an advisory of the registry is found at its package', async (t) => {
  const audit = await askRegistry(t, (asked, response) => {
    const [version] = asked['undici'] ?? [];
    const advisory = {
      id: 7,
      url: 'https://advisories.example.com/GHSA-7',
      title: 'Reads too far',
      severity: 'high',
    };
    const known = { ...advisory, vulnerable_versions: `<=${version}`, cwe: [], cvss: { score: 8 } };
    response.end(JSON.stringify({ undici: [known], yaml: [known] }));
  });
  const found = { packageName: 'undici', id: 'GHSA-7', severity: 'high', title: 'Reads too far' };
  assert.deepEqual(audit, { advisories: [found], packages: 2 });
});

test('a registry without advisories for the packages says so', async (t) => {
  const audit = await askRegistry(t, (_, response) => void response.end('{}'));
  assert.deepEqual(audit, { advisories: [], packages: 2 });
});

test('a registry that refuses the question leaves the packages unaudited, with its status', async (t) => {
  const audit = await askRegistry(t, (_, response) => void response.writeHead(405).end('{"error":"no"}'));
  assert.deepEqual(audit, { why: 'npm audit failed: 405 Method Not Allowed' });
});

const quiet: readonly [string, Readonly<Record<string, string>>][] = [
  ['npm is offline', { npm_config_offline: 'true' }],
  ['npm omits packages of development', { npm_config_omit: 'dev', NODE_ENV: 'production' }],
];
for (const [name, settings] of quiet) {
  test(`every package is asked for on a machine where ${name}`, async (t) => {
    const asked: string[] = [];
    const answer = (names: object, response: ServerResponse): void => {
      asked.push(...Object.keys(names));
      response.end('{}');
    };
    assert.deepEqual(await askRegistry(t, answer, settings), { advisories: [], packages: 2 });
    for (const part of ['undici', 'typescript']) assert.ok(asked.includes(part), part);
  });
}
