// A proxy variable that no program here can use, such as one of SOCKS: each program that sends requests ends before the first
// one and names the variable that it read. A retry would not correct it.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { programFile } from '../../support/program-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'proxy-variables-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const at = (name: string): string => join(folder, name);
writeFileSync(at('key'), 'svc_AAAAAAAAAAAAAAAAAAAA');
writeFileSync(
  at('docs.yaml'),
  `apiVersion: staticexport.dev/v1alpha1
kind: StaticExport
metadata: { name: docs }
spec: { domain: docs.example.com, api: { keySecretRef: { name: key } } }
`,
);
const api = ['--api-base-url', 'https://api.example.com'];
const key = ['--key-file', at('key')];
const once = ['--file', at('docs.yaml'), '--secret', `key=${at('key')}`, '--once', '--state', at('run')];

for (const [program, args, name, exitCode] of [
  ['operator', api, 'HTTPS_PROXY', 1],
  ['bundle-server', ['--store', at('store'), '--bundle-file', at('bundle.json')], 'http_proxy', 1],
  ['static-export', ['export', 'docs.example.com', ...api, ...key, '--to', at('site')], 'https_proxy', 2],
  ['static-export', ['run', ...once, ...api, '--publish', `dir=${at('out')}`], 'HTTP_PROXY', 2],
  [
    'static-export',
    ['conversations', 'export', '--project', 'p', ...api, ...key, '--to', at('t')],
    'https_proxy',
    2,
  ],
] as const) {
  test(`${program} ${args[0]} names ${name}`, () => {
    const { PATH, HOME } = process.env;
    const { status, stdout, stderr } = spawnSync(process.execPath, [programFile(program), ...args], {
      env: { PATH, HOME, STATIC_EXPORT_STATE: at('state'), [name]: 'socks5://proxy.example:1080' },
      encoding: 'utf8',
      timeout: 60_000,
    });
    const said = `${stdout}${stderr}`;
    assert.equal(status, exitCode, said);
    const line = `${name} is not the address of an HTTP proxy. Write it as http://HOST:PORT.`;
    assert.ok(said.includes(line), said);
    assert.ok(said.includes('InvalidProxy'), said);
  });
}
