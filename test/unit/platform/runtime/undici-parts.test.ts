import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import type * as undici from 'undici';

type Parts = Pick<
  typeof undici,
  'Agent' | 'Dispatcher' | 'EnvHttpProxyAgent' | 'Pool' | 'ProxyAgent' | 'getGlobalDispatcher'
>;

const root = join(import.meta.dirname, '../../../..');
const parts: Parts = createRequire(import.meta.url)(join(root, 'src/platform/runtime/undici-parts.cjs'));

/** Values, not types, that a file imports from undici. */
const importedBy = (text: string): readonly string[] =>
  [...text.matchAll(/^import \{([^}]*)\} from ['"]undici['"];/gm)]
    .flatMap(([, names = '']) => names.split(','))
    .map((name) => name.trim().replace(/ as .*$/, ''))
    .filter((name) => name !== '' && !name.startsWith('type '));

test('a built program has every part of undici that the sources and the cluster client import', () => {
  const sources = globSync('src/**/*.ts', { cwd: root });
  const client = 'node_modules/@kubernetes/client-node/dist/config.js';
  const imported = [...sources, client].flatMap((file) => importedBy(readFileSync(join(root, file), 'utf8')));
  assert.ok(imported.includes('Agent') && imported.includes('ProxyAgent'), 'imports are found');
  assert.deepEqual(
    imported.filter((name) => !(name in parts)),
    [],
  );
});

test('each connection of the parts sends requests', async (t) => {
  const server = createServer((_, response) => response.end('here'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const bound = server.address();
  const origin = `http://127.0.0.1:${typeof bound === 'object' ? bound?.port : ''}`;
  const own = [
    new parts.Agent(),
    new parts.Pool(origin),
    new parts.EnvHttpProxyAgent({ httpProxy: '', httpsProxy: '', noProxy: '' }),
  ];
  // The global one stays open: fetch of other tests in this process needs it.
  for (const connection of [...own, parts.getGlobalDispatcher()]) {
    const { body } = await connection.request({ origin, path: '/', method: 'GET' });
    assert.equal(await body.text(), 'here');
  }
  for (const connection of own) await connection.close();
});
