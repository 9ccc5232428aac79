// An import in one process: what each target holds after it, and that a refusal leaves the target as before.

import assert from 'node:assert/strict';
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { defaultLimits } from '#bundle/limits.ts';
import { openBundleStore } from '#bundle/store/store.ts';
import type { CommandResult } from '#cli/context.ts';
import { type ImportValues, importKitWith } from '#cli/kit/import.ts';
import { openMirror } from '#cli/kit/open-mirror.ts';
import type { Carrier } from '#mirror/carrier.ts';
import { systemRandom } from '#platform/runtime/random.ts';
import { cliContext } from '../../../support/cli-context.ts';
import { type BuiltBundle, buildKit, readTarFiles } from '../../../support/kit-builder.ts';
import { memoryBundle } from '../../../support/memory-bundle.ts';
import { createMemoryCarrier } from '../../../support/memory-carrier.ts';
import { minisignKeys } from '../../../support/minisign-keys.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const keys = await minisignKeys();
const root = temporaryFolder();

const site = { 'index.html': '<h1>home</h1>', 'a/b.html': 'b', '.env': 'hidden', _redirects: 'hidden' };
const next = { ...site, 'index.html': '<h1>home</h1><p>edited</p>' };
const digestOf = (files: typeof site): string => memoryBundle(files).index.digest;

const values: ImportValues = {
  key: undefined,
  keyText: keys.publicLine,
  toFolder: undefined,
  toStore: undefined,
  to: undefined,
  partsTo: undefined,
  digest: undefined,
  base: [],
  allowOlder: false,
  allowOtherSeries: false,
  state: undefined,
  replace: false,
  mirrorCredentials: undefined,
  mirrorEndpoint: undefined,
  mirrorRegion: 'us-east-1',
  mirrorPathStyle: false,
  allowHttpMirror: false,
  extraCaFile: undefined,
  maxArchiveSize: defaultLimits.maxArchiveBytes,
  maxBundleSize: defaultLimits.maxTotalBytes,
};

function workplace(t: TestContext) {
  const folder = mkdtempSync(join(root, 'test-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'docs.sxkit');
  const write = async (bundles: readonly BuiltBundle[], sequence = 1, name = 'site'): Promise<void> =>
    writeFileSync(path, await buildKit(bundles, keys.key, sequence, name));
  const run = (changed: Partial<ImportValues>, carrier?: Carrier): Promise<CommandResult> => {
    const open = carrier === undefined ? openMirror : async () => carrier;
    return importKitWith(open)({ ...values, ...changed }, [path], { ...cliContext, random });
  };
  return { folder, path, write, run };
}

/** Every file below a folder with its bytes; of none, nothing. */
function treeOf(folder: string): Readonly<Record<string, string>> {
  if (!existsSync(folder)) return {};
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  const files = names.filter((name) => statSync(join(folder, name)).isFile());
  return Object.fromEntries(files.map((name) => [name, readFileSync(join(folder, name), 'latin1')]));
}

/** In the names of work folders, to tell them from those of other tests. */
const mark = systemRandom.uuid();
const random = { ...systemRandom, uuid: () => `${mark}-${systemRandom.uuid()}` };

const code = (value: string) => ({ code: value });

test('a folder gets the files that a server may show', async (t) => {
  const { folder, write, run } = workplace(t);
  await write([{ site, version: 'v1' }]);
  const to = join(folder, 'public');
  const { kind, fields } = await run({ toFolder: to });
  assert.deepEqual(treeOf(to), { 'index.html': site['index.html'], 'a/b.html': 'b' });
  assert.equal(kind, 'ImportedKit');
  assert.deepEqual([fields['digest'], fields['version'], fields['pages']], [digestOf(site), 'v1', 2]);
  assert.deepEqual(readdirSync(folder).sort(), ['.public.kit-imports.json', 'docs.sxkit', 'public']);
});

test('a folder that exists is replaced only if that is said', async (t) => {
  const { folder, write, run } = workplace(t);
  await write([{ site }]);
  const to = join(folder, 'public');
  mkdirSync(to);
  await run({ toFolder: to });
  await assert.rejects(run({ toFolder: to }), code('DestinationExists'));
  await write([{ site: next }], 2);
  await run({ toFolder: to, replace: true });
  assert.equal(treeOf(to)['index.html'], next['index.html']);
});

test('a store serves the first bundle of the kit, and holds all of them', async (t) => {
  const { folder, write, run } = workplace(t);
  const other = { 'index.html': 'other' };
  await write([
    { site, version: 'v2' },
    { site: other, version: 'v1' },
  ]);
  const to = join(folder, 'store');
  await run({ toStore: to });
  const store = await openBundleStore(to, { keep: 2 });
  const good = (await store.lastGood()) ?? assert.fail();
  assert.deepEqual([good.index.digest, good.activation?.version], [digestOf(site), 'v2']);
  await good.close();
  assert.deepEqual(await store.former(), [memoryBundle(other).index.digest]);
  assert.deepEqual(
    readdirSync(to).filter((name) => name.startsWith('.')),
    [],
  );
});

test('a delta takes its base from the store that it goes to', async (t) => {
  const { folder, write, run } = workplace(t);
  const to = join(folder, 'store');
  await write([{ site }]);
  await run({ toStore: to });
  await write([{ site: next, base: site }], 2);
  await run({ toStore: to });
  const good = (await (await openBundleStore(to, { keep: 2 })).lastGood()) ?? assert.fail();
  assert.equal(good.index.digest, digestOf(next));
  await good.close();
});

test('a delta takes its base from a kit and from a store that --base names', async (t) => {
  const { folder, path, write, run } = workplace(t);
  const to = join(folder, 'store');
  await write([{ site }]);
  const base = join(folder, 'base.sxkit');
  writeFileSync(base, readFileSync(path));
  await run({ toStore: to });
  await write([{ site: next, base: site }], 2);
  for (const [at, one] of [base, to].entries()) {
    await run({ toFolder: join(folder, `public-${at}`), base: [one] });
    assert.equal(treeOf(join(folder, `public-${at}`))['index.html'], next['index.html']);
  }
});

test('without its base a delta is refused, and the message names the digest that is missing', async (t) => {
  const { folder, write, run } = workplace(t);
  await write([{ site }, { site: next, base: { 'index.html': 'x' } }]);
  for (const target of [
    { toStore: join(folder, 'store') },
    { toFolder: join(folder, 'f'), digest: digestOf(next) },
  ]) {
    await assert.rejects(run(target), {
      code: 'BaseMissing',
      message: new RegExp(memoryBundle({ 'index.html': 'x' }).index.digest),
    });
  }
  assert.deepEqual(treeOf(join(folder, 'store')), {});
  assert.ok(!existsSync(join(folder, 'f')));
});

test('a kit with any byte flipped is refused, and the target stays as it is', async (t) => {
  const { folder, path, write, run } = workplace(t);
  const to = join(folder, 'store');
  await write([{ site }]);
  await run({ toStore: to });
  await write([{ site: next, version: 'v2' }], 2);
  const before = treeOf(to);
  const kit = readFileSync(path);
  const file = openSync(path, 'r+');
  // Each byte is flipped in kit.test.ts; here the whole import runs, over all of them if it is asked for.
  const step = process.env['KIT_FLIPS'] === 'all' ? 1 : 37;
  for (let at = 0; at < kit.length; at += step) {
    writeSync(file, Buffer.from([(kit[at] ?? 0) ^ (1 << (at % 8))]), 0, 1, at);
    await assert.rejects(run({ toStore: to }), { kind: 'refused' }, `byte ${at}`);
    writeSync(file, kit.subarray(at, at + 1), 0, 1, at);
  }
  closeSync(file);
  assert.deepEqual(treeOf(to), before);
  await run({ toStore: to });
  assert.notDeepEqual(treeOf(to), before);
});

test('a bundle that is not what the list names leaves the target as before, also its other bundles', async (t) => {
  const { folder, write, run } = workplace(t);
  await write([{ site }, { site: next, claimsDigest: 'f'.repeat(64) }]);
  const to = join(folder, 'store');
  await assert.rejects(run({ toStore: to }), code('DigestMismatch'));
  assert.deepEqual(treeOf(to), {});
  const carrier = createMemoryCarrier();
  await assert.rejects(run({ to: carrier.name, state: join(folder, 's') }, carrier), code('DigestMismatch'));
  assert.equal(carrier.blobs.size + carrier.tags.size, 0);
});

test('an older kit is refused unless that is allowed; the same kit passes again', async (t) => {
  const { folder, write, run } = workplace(t);
  const to = { toStore: join(folder, 'store') };
  await write([{ site: next }], 7);
  await run(to);
  await run(to);
  await write([{ site }], 6);
  await assert.rejects(run(to), {
    code: 'KitOlder',
    message: /sequence 6, and sequence 7 was imported before/,
  });
  await write([{ site }], 7);
  await assert.rejects(run(to), { code: 'KitOlder', message: /another kit with the same sequence/ });
  await write([{ site }], 6);
  await run({ ...to, allowOlder: true });
  await run(to);
  await write([{ site }], 8);
  await run(to);
});

test('a kit of another series is refused unless that is allowed, and the old name does not come back by itself', async (t) => {
  const { folder, write, run } = workplace(t);
  const to = { toFolder: join(folder, 'public'), replace: true };
  await write([{ site: next }], 9, 'site-a');
  await run(to);
  const before = treeOf(to.toFolder);
  await write([{ site }], 20, 'site-b');
  await assert.rejects(run(to), {
    code: 'OtherSeries',
    message: /the series site-a, and the kit is one of site-b/,
  });
  await assert.rejects(run({ ...to, allowOlder: true }), code('OtherSeries'));
  assert.deepEqual(treeOf(to.toFolder), before);
  await run({ ...to, allowOtherSeries: true });
  await run(to);
  await write([{ site: next }], 10, 'site-a');
  await assert.rejects(run(to), code('OtherSeries'));
  await write([{ site: next }], 8, 'site-a');
  await assert.rejects(run({ ...to, allowOtherSeries: true }), code('KitOlder'));
});

test('one state of two mirrors remembers the series of each', async (t) => {
  const { folder, write, run } = workplace(t);
  const state = join(folder, 'imports.json');
  const [one, other] = ['oci://registry.example.com/a', 'oci://registry.example.com/b'].map((to) => ({
    to,
    state,
  }));
  await write([{ site }], 1, 'site-a');
  await run({ ...one }, createMemoryCarrier());
  await write([{ site: next }], 1, 'site-b');
  await run({ ...other }, createMemoryCarrier());
  await assert.rejects(run({ ...one }, createMemoryCarrier()), code('OtherSeries'));
});

test('a state of before, with one series, is that of its target', async (t) => {
  const { folder, write, run } = workplace(t);
  const to = { toStore: join(folder, 'store') };
  const series = { 'site-a': { sequence: 1, kit: 'a'.repeat(64) } };
  mkdirSync(to.toStore);
  writeFileSync(join(to.toStore, 'kit-imports.json'), JSON.stringify({ format: 1, series }));
  await write([{ site }], 1, 'site-b');
  await assert.rejects(run(to), code('OtherSeries'));
  await write([{ site }], 2, 'site-a');
  await run(to);
});

test('one state for two folders remembers each of them, however its path is written', async (t) => {
  const { folder, write, run } = workplace(t);
  const state = join(folder, 'state');
  await write([{ site }], 1, 'site-a');
  await run({ toFolder: join(folder, 'a'), state });
  await write([{ site }], 1, 'site-b');
  await run({ toFolder: join(folder, 'b'), state });
  await assert.rejects(run({ toFolder: join(folder, 'a', '..', 'a'), state }), code('OtherSeries'));
});

test('a kit that was refused is not remembered', async (t) => {
  const { folder, write, run } = workplace(t);
  const to = { toStore: join(folder, 'store') };
  await write([{ site: next, base: site }], 9);
  await assert.rejects(run(to), code('BaseMissing'));
  await write([{ site }], 8);
  await run(to);
});

test('a state that is damaged is named, and nothing is written', async (t) => {
  const { folder, write, run } = workplace(t);
  await write([{ site }]);
  const state = join(folder, 'state');
  writeFileSync(state, '{');
  await assert.rejects(run({ toStore: join(folder, 'store'), state }), code('StateDamaged'));
  assert.deepEqual(treeOf(join(folder, 'store')), {});
});

test('a kit of another key changes nothing', async (t) => {
  const { folder, write, run } = workplace(t);
  await write([{ site }]);
  const other = await minisignKeys();
  const to = { toStore: join(folder, 'store'), keyText: other.publicLine };
  await assert.rejects(run(to), code('SignatureInvalid'));
  assert.ok(!existsSync(to.toStore));
});

test('a folder takes one bundle of several, which --digest names', async (t) => {
  const { folder, write, run } = workplace(t);
  await write([{ site }, { site: next }]);
  const toFolder = join(folder, 'public');
  await assert.rejects(run({ toFolder }), code('SeveralBundles'));
  await assert.rejects(run({ toFolder, digest: 'f'.repeat(64) }), code('BundleNotInKit'));
  await run({ toFolder, digest: digestOf(next) });
  assert.equal(treeOf(toFolder)['index.html'], next['index.html']);
});

test('a mirror gets the image of the kit, byte by byte, and its reference', async (t) => {
  const { folder, path, write, run } = workplace(t);
  await write([{ site, version: 'v1' }]);
  const carrier = createMemoryCarrier();
  const to = { to: carrier.name, state: join(folder, 'state') };
  const { fields } = await run(to, carrier);
  const files = readTarFiles(readFileSync(path));
  const [{ digest }] = JSON.parse(String(files.get('index.json'))).manifests;
  assert.equal(Object(fields['bundles'])[0].ref, `${carrier.name}@${digest}`);
  assert.deepEqual([...carrier.tags.keys()], [digestOf(site)]);
  assert.deepEqual(carrier.tags.get(digestOf(site)), files.get(`blobs/sha256/${digest.slice(7)}`));
  const [write1, write2, write3] = carrier.calls.filter((call) => call.startsWith('write'));
  assert.deepEqual([write1, write2, write3], ['writeBlob', 'writeBlob', 'writeManifest']);
  carrier.calls.length = 0;
  await run(to, carrier);
  assert.deepEqual(
    carrier.calls.filter((call) => call.startsWith('write')),
    [],
  );
});

test('a delta takes its base from the mirror that it goes to, and is a whole image there', async (t) => {
  const { folder, write, run } = workplace(t);
  const carrier = createMemoryCarrier('s3://docs/site');
  const to = { to: carrier.name, state: join(folder, 'state') };
  await write([{ site }]);
  await run(to, carrier);
  await write([{ site: next, base: site }], 2);
  const { fields } = await run(to, carrier);
  assert.equal(Object(fields['bundles'])[0].ref, `s3://docs/site/bundles/${digestOf(next)}.json`);
  assert.ok(carrier.tags.has(digestOf(next)));
  await write([{ site: { a: '1' }, base: { a: '2' } }], 3);
  await assert.rejects(run(to, carrier), code('BaseMissing'));
});

test('a bucket without credentials is refused before anything is sent', async (t) => {
  const { folder, write, run } = workplace(t);
  await write([{ site }]);
  const state = join(folder, 's');
  await assert.rejects(run({ to: 's3://docs-bundles/site', state }), code('InvalidCredentials'));
  assert.equal(existsSync(state), false);
});

test('no work folder stays, whether an import is done or refused', async (t) => {
  const { folder, write, run } = workplace(t);
  const left = (): readonly string[] => readdirSync(tmpdir()).filter((name) => name.includes(mark));
  await write([{ site }]);
  await run({ toFolder: join(folder, 'a') });
  await write([{ site: next, claimsDigest: 'f'.repeat(64) }], 2);
  await assert.rejects(run({ toFolder: join(folder, 'b') }));
  assert.deepEqual(left(), []);
});
