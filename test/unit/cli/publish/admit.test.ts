// What is found before a job is started: destinations that cannot be written, or must not be.

import assert from 'node:assert/strict';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { admitFile } from '#cli/output/admitted-file.ts';
import { newPartialName, oldName } from '#cli/output/destination.ts';
import { admitDestination } from '#cli/publish/admit.ts';

const placement = { name: '--to', owner: '/state', mayReplace: async () => true };

function folderFor(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'admit-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test('a replacement that was killed between its two renames is put back', async (t) => {
  const to = join(folderFor(t), 'site');
  mkdirSync(to);
  writeFileSync(join(to, 'index.html'), 'one');
  renameSync(to, oldName(to, placement.owner));
  mkdirSync(await newPartialName(to));
  await admitDestination(to, placement, []);
  assert.equal(readFileSync(join(to, 'index.html'), 'utf8'), 'one');
});

test('what another program wrote is not replaced, unless told', async (t) => {
  const folder = folderFor(t);
  const to = join(folder, 'site');
  mkdirSync(to);
  const others = { name: '--to', owner: '/other', mayReplace: async () => false };
  await assert.rejects(admitDestination(to, others, []), { code: 'DestinationExists', outcome: 'usage' });
  await admitDestination(to, placement, []);
  await assert.rejects(admitDestination(join(folder, 'a/b'), others, []), { code: 'DestinationMissing' });
  await assert.rejects(admitDestination(join(folder, 'x.zip'), others, []), { code: 'UnknownArchiveName' });
});

test('a destination that holds the state folder or the current folder is refused', async (t) => {
  const folder = folderFor(t);
  const state = join(folder, 'public', 'state');
  mkdirSync(state, { recursive: true });
  for (const to of [join(folder, 'public'), state, folder, '/']) {
    await assert.rejects(admitDestination(to, placement, [state]), { code: 'DestinationRefused' });
  }
  await admitDestination(join(state, 'site'), placement, [state]);
});

test('a folder with another destination in it is refused, because a replacement would destroy that', async (t) => {
  const to = join(folderFor(t), 'site');
  const inside = admitDestination(to, placement, [undefined, join(to, 'bundle.json')]);
  await assert.rejects(inside, { code: 'DestinationRefused', message: /^--to holds/ });
  await admitDestination(to, placement, [`${to}.yaml`]);
});

test('a symbolic link hides neither a destination in a folder nor the folder', async (t) => {
  const folder = folderFor(t);
  mkdirSync(join(folder, 'www/site'), { recursive: true });
  symlinkSync(join(folder, 'www'), join(folder, 'alias'));
  symlinkSync(join(folder, 'behind.json'), join(folder, 'www/site/link.json'));
  for (const [to, kept] of [
    ['www/site', 'alias/site/bundle.json'],
    ['alias/site', 'www/site/a/b/bundle.json'],
    ['alias', 'www/state'],
    ['www/site', 'www/site/link.json'],
  ] as const) {
    const inside = admitDestination(join(folder, to), placement, [join(folder, kept)]);
    await assert.rejects(inside, { code: 'DestinationRefused' }, `${to} ${kept}`);
  }
  await admitDestination(join(folder, 'alias/site'), placement, [join(folder, 'www/bundle.json')]);
});

test('a single file must be a file in a folder that exists, and messages name its flag', async (t) => {
  const folder = folderFor(t);
  const cases = [
    [folder, 'DestinationRefused', '--values is not a file; name a file'],
    ['/dev/null', 'DestinationRefused', '--values is not a file; name a file'],
    ['/dev/null/x', 'DestinationRefused', '--values is below a file; name a path in a folder'],
    ['/dev/null/x/y', 'DestinationRefused', '--values is below a file; name a path in a folder'],
    [join(folder, 'a/b'), 'DestinationMissing', 'the folder around --values does not exist; make it first'],
  ] as const;
  for (const [path, code, message] of cases) {
    await assert.rejects(admitFile(path, '--values'), { code, message, outcome: 'usage' });
  }
  await admitFile(join(folder, 'new.yaml'), '--values');
  symlinkSync(join(folder, 'behind.yaml'), join(folder, 'link.yaml'));
  writeFileSync(join(folder, 'behind.yaml'), '');
  await admitFile(join(folder, 'link.yaml'), '--values');
});
