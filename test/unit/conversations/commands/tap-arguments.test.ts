// The command line of the tap: the options of Singer, and no others.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { readTapInvocation, tapAbout, tapHelp } from '#conversations/commands/tap-arguments.ts';

const folder = mkdtempSync(join(tmpdir(), 'tap-arguments-'));
after(() => rmSync(folder, { recursive: true }));
const config = join(folder, 'config.json');
writeFileSync(
  config,
  JSON.stringify({
    api_base_url: 'https://a.example',
    project: 'docs',
    api_key: 'svc_k',
    redact: ['ip'],
    limit: 5,
  }),
);
const start = ['conversations', 'export', '--format', 'singer', '--to', '-'];
const flags = ['--api-base-url', 'https://a.example', '--project', 'docs', '--limit', '5', '--redact', 'ip'];

for (const [line, more] of [
  [['--config', config], []],
  [
    ['-c', config, '-s', 'state.json'],
    ['--state', 'state.json'],
  ],
  [
    [`--config=${config}`, '--state=s', '--catalog', 'c'],
    ['--state', 's', '--catalog', 'c'],
  ],
  [
    ['--config', config, '--properties', 'c'],
    ['--catalog', 'c'],
  ],
] as const) {
  test(`${line.join(' ').replace(config, 'FILE')} is a run`, async () => {
    const expected = {
      kind: 'run',
      args: [...start, ...flags, ...more],
      env: { STATIC_EXPORT_API_KEY: 'svc_k' },
    };
    assert.deepEqual(await readTapInvocation(line), expected);
  });
}

for (const [line, kind] of [
  [['--help'], 'help'],
  [['--version'], 'version'],
  [['--about'], 'about'],
  [['--about', '--format', 'json'], 'about'],
  [['--config', 'absent', '--discover'], 'discover'],
  [['--config', 'absent', '--state', 'absent', '--discover'], 'discover'],
] as const) {
  test(`${line.join(' ')} prints`, async () => {
    assert.deepEqual(await readTapInvocation(line), { kind });
  });
}

for (const [line, reason] of [
  [[], /--config FILE is required/],
  [['--config', 'absent'], /--config cannot be read \(ENOENT\); check its path/],
  [['--config', config, '--stat', 's'], /--stat/],
  [['--config', config, 'state.json'], /state\.json/],
  [['--config'], /--config/],
  [['--about', '--format', 'markdown'], /--format must be json/],
] as const) {
  test(`${line.join(' ').replace(config, 'FILE')} is refused`, async () => {
    const found = await readTapInvocation(line);
    assert.equal(found.kind, 'refuse');
    assert.match('reason' in found ? found.reason : '', reason);
  });
}

test('the key is a secret among the settings', () => {
  assert.equal(tapAbout.settings.properties.api_key.secret, true);
});

let files = 0;
async function invocationWith(fields: object): Promise<Awaited<ReturnType<typeof readTapInvocation>>> {
  files += 1;
  const path = join(folder, `fields-${files}.json`);
  writeFileSync(path, JSON.stringify({ project: 'docs', ...fields }));
  return readTapInvocation(['--config', path]);
}

for (const [fields, reason] of [
  [{ redacted: 'email' }, /^--config has unknown fields: redacted\./],
  [{ stat_date: '3d', 'user\u001bagent': 'x' }, /^--config has unknown fields: stat_date, user\S*agent\./],
  [{ drop_response: 'yes' }, /^drop_response of --config must be true or false$/],
] as const) {
  test(`a configuration with ${JSON.stringify(fields)} is refused`, async () => {
    const found = await invocationWith(fields);
    assert.match('reason' in found ? found.reason : '', reason);
    assert.ok(!('reason' in found && found.reason.includes('\u001b')));
  });
}

for (const [fields, more] of [
  [{ drop_response: 'true' }, ['--project', 'docs', '--drop-response']],
  [{ drop_response: true }, ['--project', 'docs', '--drop-response']],
  [{ drop_response: 'false' }, ['--project', 'docs']],
  [{ redact: [], since: undefined, limit: null, budget: '' }, ['--project', 'docs']],
] as const) {
  test(`a configuration with ${JSON.stringify(fields)} is ${more.join(' ')}`, async () => {
    assert.deepEqual(await invocationWith(fields), { kind: 'run', args: [...start, ...more], env: {} });
  });
}

test('the help fits a terminal of 80 columns, and names each field', () => {
  const tooLong = tapHelp.split('\n').filter((line) => line.length > 80);
  assert.deepEqual(tooLong, []);
  for (const field of Object.keys(tapAbout.settings.properties))
    assert.match(tapHelp, new RegExp(`\\b${field}\\b`));
});
