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
    npm_config_registry: `http://127.0.0.1:${port}/`,
    npm_config_cache: join(folder, 'cache'),
  };
  return askNpm(new Set(['undici', 'zod']), { cwd: folder, env });
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
    response.end(JSON.stringify({ undici: [known], typescript: [known] }));
  });
  const found = { packageName: 'undici', id: 'GHSA-7', severity: 'high', title: 'Reads too far' };
  assert.deepEqual(audit, { advisories: [found], packages: 2 });
});

test('a registry without advisories for the packages says so', async (t) => {
  const audit = await askRegistry(t, (_, response) => void response.end('{}'));
  assert.deepEqual(audit, { advisories: [], packages: 2 });
});

test('a registry that refuses the question leaves the packages unaudited', async (t) => {
  const audit = await askRegistry(t, (_, response) => void response.writeHead(405).end());
  assert.deepEqual(audit, { why: 'the registry of npm does not answer npm audit' });
});
