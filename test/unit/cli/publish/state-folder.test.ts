// What a run leaves for the next one: whole or absent, for its owner alone, and one run at a time.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { defaultStatePath, openStateFolder } from '#cli/publish/state-folder.ts';

function pathFor(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'export-state-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'a', 'b');
}

const target = { domain: 'docs.example.com', baseUrl: 'https://api.example.com' };

test('a state is read again as it was written, and only its owner can read it', async (t) => {
  const path = pathFor(t);
  const first = await openStateFolder(path);
  const last = { ...target, jobId: 'j', version: 'v', digest: 'd', pages: 5 };
  await first.write({ site: target, last });
  first.close();
  const second = await openStateFolder(path);
  assert.deepEqual([second.state.site, second.state.last], [target, last]);
  second.close();
  assert.equal(statSync(path).mode & 0o777, 0o700);
  assert.equal(statSync(join(path, 'state.json')).mode & 0o777, 0o600);
});

test('a second run on the same folder is refused while the first has it', async (t) => {
  const path = pathFor(t);
  const first = await openStateFolder(path);
  await assert.rejects(openStateFolder(path), { code: 'StateBusy', outcome: 'temporary' });
  first.close();
  (await openStateFolder(path)).close();
});

test('a file that is not a state is kept, and refused with what to do', async (t) => {
  const path = pathFor(t);
  (await openStateFolder(path)).close();
  for (const text of ['', '{', '{"format":2}', '{"format":1,"site":{"domain":5}}']) {
    writeFileSync(join(path, 'state.json'), text);
    await assert.rejects(openStateFolder(path), { code: 'StateInvalid', message: /remove it/ });
    assert.equal(readFileSync(join(path, 'state.json'), 'utf8'), text);
  }
});

test('a folder that cannot be made is a clear error', async () => {
  await assert.rejects(openStateFolder('/proc/nothing'), { code: 'StateUnusable', outcome: 'usage' });
});

test('each export API and domain has its own default folder', () => {
  const env = { HOME: '/home/u' };
  const one = defaultStatePath(target, env);
  assert.match(one, /^\/home\/u\/\.local\/state\/static-export\/[0-9a-f]{16}$/);
  assert.notEqual(one, defaultStatePath({ ...target, domain: 'other.example.com' }, env));
  assert.match(defaultStatePath(target, { XDG_STATE_HOME: '/s' }), /^\/s\/static-export\//);
});
