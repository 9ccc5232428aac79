// Settings from files, with real files: a checkout and a profile are all that an export needs, and no change of the
// checkout sends the key elsewhere.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { runInProcess } from '../../support/cli-in-process.ts';
import { type CommandResult, runCommand } from '../../support/command.ts';
import { programFile } from '../../support/program-file.ts';
import { tarOf } from '../../support/tar-builder.ts';
import { key, type ScriptedVendor, startVendor } from './environment/scripted-vendor.ts';

async function checkoutFor(t: TestContext) {
  const vendors: ScriptedVendor[] = [];
  for (const _ of ['own', 'other']) vendors.push(await startVendor(gzipSync(tarOf({ 'index.html': 'x' }))));
  const folder = mkdtempSync(join(tmpdir(), 'cli-settings-'));
  t.after(async () => {
    for (const vendor of vendors) await vendor.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const [own = assert.fail(), other = assert.fail()] = vendors;
  const settings = join(folder, 'config/static-export');
  const checkout = join(folder, 'checkout');
  mkdirSync(settings, { recursive: true, mode: 0o700 });
  mkdirSync(join(checkout, '.git'), { recursive: true });
  writeFileSync(join(settings, 'key'), key, { mode: 0o600 });
  const profile = { apiBaseUrl: own.url, keyFile: 'key', allowPrivateLinks: true };
  writeFileSync(
    join(settings, 'config.yaml'),
    JSON.stringify({ currentProfile: 'own', profiles: { own: profile } }),
    { mode: 0o600 },
  );
  const env = { XDG_CONFIG_HOME: join(folder, 'config'), XDG_STATE_HOME: join(folder, 'state') };
  const writeFile = (file: object): void =>
    writeFileSync(join(checkout, 'static-export.yaml'), JSON.stringify(file));
  const run = (file: object, ...flags: readonly string[]): Promise<CommandResult> => {
    writeFile(file);
    return runInProcess(['export', '-o', 'json', ...flags], { cwd: checkout, env });
  };
  /** A process, because paths of the file are relative to its folder. */
  const runThere = (file: object): Promise<CommandResult> => {
    writeFile(file);
    const words = [process.execPath, programFile('static-export'), 'export', '-o', 'json'];
    return runCommand(['sh', '-c', 'cd "$0" && exec "$@"', checkout, ...words], { env });
  };
  return { own, other, checkout, run, runThere };
}

test('a checkout and a profile are all that an export needs', async (t) => {
  const { checkout, runThere } = await checkoutFor(t);
  const { code, stdout, stderr } = await runThere({ domain: 'docs.example.com', export: { to: 'public' } });
  assert.equal(code, 0, stderr);
  assert.equal(JSON.parse(stdout).domain, 'docs.example.com');
  assert.ok(existsSync(join(checkout, 'public/index.html')));
});

test('no change of the checkout sends the key elsewhere', async (t) => {
  const { own, other, run } = await checkoutFor(t);
  const domain = 'docs.example.com';
  for (const file of [
    { domain, export: { apiBaseUrl: other.url } },
    { domain, apiBaseUrl: other.url },
    { domain, run: { allowedApiHosts: ['other.example.com'] } },
    { domain, profile: 'other' },
  ]) {
    const { code, stdout } = await run(file);
    assert.deepEqual([code, JSON.parse(stdout).code], [2, 'ConfigurationRefused']);
  }
  assert.deepEqual([own.jobs.size, other.jobs.size], [0, 0]);
});

test('the key of a profile does not go to an address of the command line', async (t) => {
  const { other, run } = await checkoutFor(t);
  const { code, stdout } = await run({ domain: 'docs.example.com' }, '--api-base-url', other.url);
  assert.deepEqual([code, JSON.parse(stdout).code, other.jobs.size], [3, 'KeyMissing', 0]);
});
