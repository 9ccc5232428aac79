// The command line of the tap: the options of Singer, and no others.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { readTapInvocation, tapAbout } from '../../../../src/cli/conversations/tap-arguments.ts';

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
  [['--config', 'absent'], /--config cannot be read \(ENOENT\)/],
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
