// kill -9 of a real process: at every file operation between an archive and its being the current bundle, and of the
// whole program at any moment of a swap. Whatever is left: the old bundle or the new one, whole, and a clean start.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openBundleStore } from '../../../src/bundle/store.ts';
import { putBundle } from '../../support/store-builder.ts';
import { bundleDocument, makeArchive, makeSite } from './archive.ts';
import { startLinkServer } from './link-server.ts';
import { ask } from './raw-client.ts';
import { prepareSite } from './served-site.ts';

interface Ending {
  readonly signal: string | null;
  readonly steps: number;
}

function runChild(args: readonly string[]): Promise<Ending> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      process.execPath,
      [join(import.meta.dirname, 'crash-child.ts'), ...args],
      (error, stdout, stderr) => {
        const { signalCode } = child;
        if (error !== null && signalCode !== 'SIGKILL') reject(new Error(stderr, { cause: error }));
        else resolve({ signal: signalCode, steps: Number(stdout) });
      },
    );
  });
}

test('killed before, amid or after any step of a commit: the old bundle or the new one, and a clean start', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'crash-'));
  try {
    const before = join(folder, 'before');
    const archive = join(folder, 'new.tar.gz');
    await writeFile(archive, await makeArchive({ 'index.html': 'home new', 'a/b.css': 'b' }));
    const oldStore = await openBundleStore(before, { keep: 1 });
    const old = await putBundle(before, { 'index.html': 'home old', 'a/b.css': 'b' });
    await oldStore.activate(old.digest, { version: 'old', activatedAt: 1 });

    /** One kill in a copy of the store; says what the next process finds. */
    const crash = async (steps: number, moment: string): Promise<string> => {
      const where = `${moment} step ${steps + 1}`;
      const store = join(folder, `${moment}-${steps}`);
      await cp(before, store, { recursive: true });
      const { signal } = await runChild([store, archive, `${steps}`, moment]);
      assert.equal(signal, 'SIGKILL', where);
      const current = await (await openBundleStore(store, { keep: 1 })).lastGood();
      assert.ok(current !== undefined, `no bundle at all ${where}`);
      const [, home] = current.index.files;
      assert.equal(home && current.readSync(home).toString(), `home ${current.facts?.version}`, where);
      const facts = current.facts?.version ?? 'none';
      await current.close();
      assert.deepEqual((await readdir(store)).sort(), ['bundles', 'current'], where);
      await rm(store, { recursive: true });
      return facts;
    };
    const whole = join(folder, 'whole');
    await cp(before, whole, { recursive: true });
    const { steps } = await runChild([whole, archive, '1000', 'before']);
    assert.ok(steps > 15, `${steps} steps`);
    const kills = Array.from({ length: steps }, (_, at) =>
      ['before', 'amid'].map((moment) => ({ at, moment })),
    )
      .flat()
      .concat({ at: steps - 1, moment: 'after' });
    const found: string[] = [];
    const next = kills.values();
    const worker = async (): Promise<void> => {
      for (const { at, moment } of next) found.push(await crash(at, moment));
    };
    await Promise.all([worker(), worker(), worker()]);
    assert.equal(found.length, kills.length);
    assert.deepEqual([...new Set(found)].sort(), ['new', 'old']);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test('the program killed at any moment of a swap serves one whole version after its next start', async () => {
  const links = await startLinkServer();
  const served = await prepareSite();
  try {
    const versions = ['v1', 'v2', 'v3', 'v4'];
    for (const version of versions) links.put(version, await makeArchive(makeSite(version)));
    await served.mount(bundleDocument({ version: 'v1', link: links.link('v1') }));
    await served.start();
    await served.until('v1 is served', ({ active }) => active?.version === 'v1');
    await served.settle();
    let former = 'v1';
    for (const [at, version] of versions.slice(1).entries()) {
      await served.mount(bundleDocument({ version, link: links.link(version) }));
      await sleep(30 + at * 60);
      await served.child().stop('SIGKILL');
      links.misbehave((response) => response.writeHead(403).end());
      await served.start();
      const { active } = await served.until('something is served', (status) => status.active !== null);
      assert.ok(active?.version === former || active?.version === version, `${active?.version} is served`);
      const { body } = await ask(served.port, '/guides/page-7');
      assert.deepEqual([...new Set(body.match(/v\d(?=\.js|<)/g))], [active?.version]);
      links.misbehave(undefined);
      await served.child().stop('SIGKILL');
      await served.start();
      await served.until(`${version} is served`, (status) => status.active?.version === version);
      await served.settle();
      former = version;
    }
  } finally {
    await served.remove();
    await links.close();
  }
});
