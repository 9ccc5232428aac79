// The destinations of a state: what is owned, what was changed since it was written, and that one failure stops no other.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { CliError } from '#cli/cli-error.ts';
import { holdsOnly, nameMarks } from '#cli/publish/content-marks.ts';
import { isPlaced, placeOf, writeAll, writePlace } from '#cli/publish/destinations.ts';
import { defaultStatePath, openStateFolder, type StateFolder } from '#cli/publish/state-folder.ts';

const { signal } = new AbortController();

async function workplaceFor(t: TestContext): Promise<{ readonly path: string; readonly state: StateFolder }> {
  const folder = mkdtempSync(join(tmpdir(), 'destinations-'));
  const state = await openStateFolder(join(folder, 'state'));
  t.after(() => {
    state.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return { path: join(folder, 'site'), state };
}

const site = { digest: 'digest', files: ['index.html', 'a/b.html'] };
const archive = { digest: 'digest', files: [''] };

async function writeSite(path: string, state: StateFolder): Promise<void> {
  const write = async (): Promise<void> => {
    mkdirSync(join(path, 'a'), { recursive: true });
    writeFileSync(join(path, 'index.html'), 'home');
    writeFileSync(join(path, 'a/b.html'), 'b');
  };
  await writePlace(state, placeOf(state, path, '--to', false), site, write, signal);
}

const changes: Readonly<Record<string, (path: string) => void>> = {
  'a file that was changed': (path) => writeFileSync(join(path, 'a/b.html'), 'B'),
  'a file that was emptied': (path) => writeFileSync(join(path, 'index.html'), ''),
  'a file that was removed': (path) => rmSync(join(path, 'a/b.html')),
  'a file that was added': (path) => writeFileSync(join(path, 'a/c.html'), 'c'),
  'a file that became a symbolic link': (path) => {
    rmSync(join(path, 'index.html'));
    symlinkSync(join(path, 'a/b.html'), join(path, 'index.html'));
  },
  'a folder that was removed': (path) => rmSync(path, { recursive: true }),
};
for (const [name, change] of Object.entries(changes)) {
  test(`${name} is seen`, async (t) => {
    const { path, state } = await workplaceFor(t);
    await writeSite(path, state);
    assert.equal(await isPlaced(state, path, 'digest', signal), true);
    assert.equal(await isPlaced(state, path, 'other', signal), false);
    change(path);
    assert.equal(await isPlaced(state, path, 'digest', signal), false);
  });
}

test('an archive that was changed is seen', async (t) => {
  const { path, state } = await workplaceFor(t);
  const place = placeOf(state, `${path}.tar`, '--to', false);
  await writePlace(state, place, archive, async () => writeFileSync(place.path, 'bytes'), signal);
  assert.equal(await isPlaced(state, place.path, 'digest', signal), true);
  writeFileSync(place.path, 'other');
  assert.equal(await isPlaced(state, place.path, 'digest', signal), false);
});

test('a write that was killed leaves a destination that this state may replace, and that holds nothing', async (t) => {
  const { path, state } = await workplaceFor(t);
  const killed = writePlace(
    state,
    placeOf(state, path, '--to', false),
    site,
    () => Promise.reject(new Error('killed')),
    signal,
  );
  await assert.rejects(killed, /killed/);
  assert.equal(await placeOf(state, path, '--to', false).mayReplace(), true);
  assert.equal(await isPlaced(state, path, 'digest', signal), false);
});

const isReplaceable = (path: string, state: StateFolder): Promise<boolean> =>
  placeOf(state, path, '--to', false).mayReplace();

test('a folder with a file that this state did not write is not replaced', async (t) => {
  const { path, state } = await workplaceFor(t);
  await writeSite(path, state);
  writeFileSync(join(path, 'index.html'), 'changed');
  rmSync(join(path, 'a/b.html'));
  assert.equal(await isReplaceable(path, state), true);
  for (const added of ['thesis.txt', 'a/thesis.txt', '.git']) {
    writeFileSync(join(path, added), 'mine');
    assert.equal(await isReplaceable(path, state), false, added);
    assert.equal(await placeOf(state, path, '--to', true).mayReplace(), true);
    rmSync(join(path, added));
  }
  symlinkSync(tmpdir(), join(path, 'link'));
  assert.equal(await isReplaceable(path, state), false);
});

test('a symbolic link is one file, and what it leads to is not looked at', async (t) => {
  const { path } = await workplaceFor(t);
  mkdirSync(path);
  mkdirSync(`${path}-of-others`);
  writeFileSync(join(`${path}-of-others`, 'thesis.txt'), 'mine');
  symlinkSync(`${path}-of-others`, join(path, 'link'));
  assert.equal(await holdsOnly(path, nameMarks(['link'])), true);
});

test("what the user put where this state's site was is not replaced", async (t) => {
  const { path, state } = await workplaceFor(t);
  await writeSite(path, state);
  rmSync(path, { recursive: true });
  assert.equal(await isReplaceable(path, state), true);
  mkdirSync(path);
  assert.equal(await isReplaceable(path, state), true);
  writeFileSync(join(path, 'thesis.txt'), 'mine');
  assert.equal(await isReplaceable(path, state), false);
  rmSync(path, { recursive: true });
  writeFileSync(path, 'a file');
  assert.equal(await isReplaceable(path, state), false);
});

test('an empty folder is taken, also a new volume behind a symbolic link', async (t) => {
  const { path, state } = await workplaceFor(t);
  mkdirSync(join(`${path}-volume`, 'lost+found'), { recursive: true });
  symlinkSync(`${path}-volume`, path);
  assert.equal(await isReplaceable(path, state), true);
  await writeSite(path, state);
  assert.equal(await isPlaced(state, path, 'digest', signal), true);
  assert.equal(await isReplaceable(path, state), true);
  writeFileSync(join(`${path}-volume`, 'lost+found', 'thesis.txt'), 'mine');
  assert.equal(await isReplaceable(path, state), false);
});

test('what may not be replaced is described by what is known of it', async (t) => {
  const { path, state } = await workplaceFor(t);
  mkdirSync(path);
  writeFileSync(join(path, 'thesis.txt'), 'mine');
  const held = (of: StateFolder) => placeOf(of, path, '--to', false).describeHeld?.();
  assert.equal(await held(state), 'exists, and no run with this --state wrote it');
  const target = { domain: 'docs.example.com', baseUrl: 'https://old.example.com/v1' };
  const open = async (baseUrl: string): Promise<StateFolder> => {
    const opened = await openStateFolder(
      defaultStatePath({ ...target, baseUrl }, { XDG_STATE_HOME: `${path}-home` }),
    );
    t.after(() => {
      opened.close();
      rmSync(`${path}-home`, { recursive: true, force: true });
    });
    return opened;
  };
  const now = await open('https://new.example.com');
  assert.equal(await held(now), 'exists, and no export of this site and --api-base-url wrote it');
  rmSync(path, { recursive: true });
  const before = await open(target.baseUrl);
  await writeSite(path, before);
  const last = { ...target, jobId: 'j', version: 'v', digest: 'd', pages: 1 };
  await before.write({ ...before.state, last });
  assert.equal(
    await held(now),
    'was written by the export of docs.example.com from old.example.com, and this one is of another site or --api-base-url',
  );
  writeFileSync(join(path, 'thesis.txt'), 'mine');
  assert.equal(await held(before), 'holds files that were added since it was written');
});

test('after a kill, the files of both versions are those of this state, and no others', async (t) => {
  const { path, state } = await workplaceFor(t);
  await writeSite(path, state);
  const killed = () => Promise.reject(new Error('killed'));
  const next = { digest: 'next', files: ['new.html'] };
  await assert.rejects(writePlace(state, placeOf(state, path, '--to', false), next, killed, signal));
  assert.equal(await isReplaceable(path, state), true);
  writeFileSync(join(path, 'new.html'), 'new');
  assert.equal(await isReplaceable(path, state), true);
  writeFileSync(join(path, 'thesis.txt'), 'mine');
  assert.equal(await isReplaceable(path, state), false);
});

test('what was replaced with leave, and was not, is not replaced without it', async (t) => {
  const { path, state } = await workplaceFor(t);
  mkdirSync(path);
  writeFileSync(join(path, 'thesis.txt'), 'mine');
  const killed = () => Promise.reject(new Error('killed'));
  await assert.rejects(writePlace(state, placeOf(state, path, '--to', true), site, killed, signal));
  assert.equal(await isReplaceable(path, state), false);
});

test('a state remembers its latest destinations only', async (t) => {
  const { path, state } = await workplaceFor(t);
  for (let day = 1; day <= 40; day += 1) {
    const place = placeOf(state, `${path}-${day}.tar`, '--to', false);
    await writePlace(state, place, archive, async () => writeFileSync(place.path, 'bytes'), signal);
  }
  assert.equal(state.state.destinations?.length, 32);
  assert.equal(await isPlaced(state, `${path}-40.tar`, 'digest', signal), true);
});

test('what another program made is not claimed by an attempt to write it', async (t) => {
  const { path, state } = await workplaceFor(t);
  mkdirSync(path);
  writeFileSync(join(path, 'thesis.txt'), 'mine');
  const refused = () => Promise.reject(new CliError('usage', 'DestinationExists', 'said'));
  await assert.rejects(writePlace(state, placeOf(state, path, '--to', false), site, refused, signal));
  assert.equal(await placeOf(state, path, '--to', false).mayReplace(), false);
});

test('each destination is written, whatever becomes of the others, and the error says which', async () => {
  const done: string[] = [];
  const works = (name: string) => ({ name, write: async () => void done.push(name) });
  const fails = (name: string, error: Error) => ({ name, write: () => Promise.reject(error) });
  const all = [works('--to'), works('--values')];
  await writeAll(all, { version: 'v', next: [] }, signal);
  assert.deepEqual(done, ['--to', '--values']);
  done.length = 0;
  const some = [
    fails('--to', new CliError('notWritten', 'DestinationNotWritten', '--to failed', { next: ['fix'] })),
    works('--values'),
    fails('--link-file', new CliError('usage', 'DestinationExists', '--link-file failed')),
  ];
  await assert.rejects(writeAll(some, { version: 'v', next: ['again'] }, signal), {
    outcome: 'notWritten',
    code: 'DestinationNotWritten',
    message: '--to failed. --link-file failed',
    next: ['fix', 'again'],
    reached: { version: 'v', written: ['--values'] },
  });
  assert.deepEqual(done, ['--values']);
  const bug = new TypeError('bug');
  await assert.rejects(writeAll([fails('--to', bug)], { version: 'v', next: [] }, signal), bug);
});
