// Files of settings: who wins, what a repository may not set, what a profile holds, and errors that name file and field.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { commandSections, commands } from '#bin/static-export-commands.ts';
import { CliError } from '#cli/cli-error.ts';
import type { CommandLine } from '#cli/command.ts';
import { readConfiguration } from '#cli/config/configuration.ts';
import { repositoryFlags } from '#cli/config/configuration-file.ts';
import { findCommand } from '#cli/find-command.ts';
import { flagName } from '#platform/runtime/flags/flags.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

interface Case {
  /** `static-export.yaml`. */
  readonly repository?: string;
  /** `config.yaml`. */
  readonly user?: string;
  /** Below the repository. */
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Gets the folder above the repository. */
  readonly prepare?: (folder: string) => void;
}

/** @returns the command line as the program would run it */
async function read(t: TestContext, { repository, user, cwd = '.', env = {}, prepare }: Case, line: string) {
  const folder = temporaryFolder(t);
  const write = (path: string, text: string | undefined): void => {
    if (text === undefined) return;
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text, { mode: 0o600 });
  };
  mkdirSync(join(folder, 'repository/.git'), { recursive: true });
  mkdirSync(join(folder, 'repository', cwd), { recursive: true });
  write('repository/static-export.yaml', repository);
  write('config/static-export/config.yaml', user);
  prepare?.(folder);
  const found = findCommand(line.split(' '), commandSections, '1.2.3');
  assert.ok(found.kind === 'command');
  const variables = { XDG_CONFIG_HOME: join(folder, 'config'), ...env };
  const warnings: string[] = [];
  const configured = await readConfiguration(found.command, found.args, commands, {
    cwd: join(folder, 'repository', cwd),
    env: variables,
    userId: process.getuid?.(),
    warn: (text) => void warnings.push(text),
  });
  return { line: found.command.read(found.args, variables, configured), folder, warnings };
}

function valuesOf(line: CommandLine): Readonly<Record<string, unknown>> {
  assert.ok(line.outcome === 'run', 'text' in line ? line.text : '');
  return line.values;
}

const user = `
currentProfile: staging
profiles:
  staging: { apiBaseUrl: "https://staging.example.com", keyFile: staging.key }
  production:
    apiBaseUrl: https://export.example.com/
    keyFile: /keys/production
    allowedApiHosts: [a.example.com, b.example.com]
    allowPrivateLinks: true
`;
const repository =
  'domain: docs.example.com\nquiet: true\nexport: { to: public, minPages: 10, maxShrink: 20 }\n';

test('a flag wins over its variable, a variable over the file, the file over the default', async (t) => {
  const given = { repository, user, env: { STATIC_EXPORT_MIN_PAGES: '11' } };
  const { line } = await read(t, given, 'export --max-shrink 30');
  const values = valuesOf(line);
  assert.deepEqual(
    [values['maxShrink'], values['minPages'], values['to'], values['quiet'], values['timeout']],
    [30, 11, 'public', true, 3_600_000],
  );
  assert.deepEqual(line.outcome === 'run' && line.args, ['docs.example.com']);
});

test('an argument of the command line wins over the domain of the file', async (t) => {
  const { line } = await read(t, { repository, user }, 'export other.example.com');
  assert.deepEqual(line.outcome === 'run' && line.args, ['other.example.com']);
});

test('a command takes its own section, and the file of a folder above has paths relative to itself', async (t) => {
  const { line } = await read(t, { repository, user, cwd: 'docs/site' }, 'export');
  assert.equal(valuesOf(line)['to'], '../../public');
  const sections = 'bundle: { serve: { basePath: /docs } }\nrun: { publish: [dir=public] }\n';
  const serve = await read(t, { repository: sections }, 'bundle serve site.tar');
  assert.equal(valuesOf(serve.line)['basePath'], '/docs');
  const run = await read(t, { repository: sections, cwd: 'a' }, 'run -f x --state y');
  assert.deepEqual(valuesOf(run.line)['publish'], ['../public']);
});

test('a profile gives the export API and the file of its key; --profile and its variable choose another', async (t) => {
  const staging = await read(t, { user }, 'export docs.example.com');
  assert.equal(valuesOf(staging.line)['apiBaseUrl'], 'https://staging.example.com');
  assert.equal(valuesOf(staging.line)['keyFile'], join(staging.folder, 'config/static-export/staging.key'));
  const production = await read(t, { user }, 'export docs.example.com --profile production');
  assert.equal(valuesOf(production.line)['keyFile'], '/keys/production');
  assert.equal(valuesOf(production.line)['allowPrivateLinks'], true);
  const env = { STATIC_EXPORT_PROFILE: 'production' };
  const run = await read(t, { user, env }, 'run -f x --state y');
  assert.deepEqual(valuesOf(run.line)['allowedApiHosts'], ['a.example.com', 'b.example.com']);
});

test('the key of a profile goes to no other address, and another key replaces it', async (t) => {
  const keyFileOf = async (line: string, env = {}) =>
    valuesOf((await read(t, { user, env }, line)).line)['keyFile'];
  const words = 'export docs.example.com --profile production';
  assert.equal(await keyFileOf(`${words} --api-base-url https://evil.example.com`), undefined);
  assert.equal(await keyFileOf(words, { STATIC_EXPORT_API_BASE_URL: 'https://evil.example.com' }), undefined);
  assert.equal(await keyFileOf(`${words} --api-base-url=https://export.example.com`), '/keys/production');
  assert.equal(await keyFileOf(words, { STATIC_EXPORT_API_KEY: 'svc_key' }), undefined);
  assert.equal(await keyFileOf(`${words} --key-stdin`), undefined);
  assert.equal(await keyFileOf(`${words} --key-file mine`), 'mine');
  assert.equal(await keyFileOf(words, { STATIC_EXPORT_KEY_STDIN: 'true' }), undefined);
  assert.equal(await keyFileOf(`${words} --key-stdin=false --key-stdin`), undefined);
});

for (const [name, link, path] of [
  ['to a folder outside', '../outside', 'out'],
  ['above the path', '../outside', 'out/new/folder'],
  ['to nothing yet', '../outside/later', 'out'],
  ['to itself', 'out', 'out/new'],
] as const) {
  test(`a path of a repository does not leave it by a symbolic link ${name}`, async (t) => {
    const prepare = (folder: string): void => {
      mkdirSync(join(folder, 'outside'));
      symlinkSync(link, join(folder, 'repository/out'));
    };
    for (const text of [`export: { to: ${path} }`, `resultsDir: ${path}`]) {
      const message = /must be a path inside the folder of the file/;
      const refused = read(t, { repository: text, prepare }, 'export docs.example.com');
      await assert.rejects(refused, { code: 'ConfigurationRefused', message });
    }
  });
}

test('a symbolic link within the repository is followed', async (t) => {
  const prepare = (folder: string): void => {
    mkdirSync(join(folder, 'repository/real'));
    symlinkSync('real', join(folder, 'repository/out'));
  };
  const { line } = await read(t, { repository: 'export: { to: out/new }', user, prepare }, 'export a.b');
  assert.equal(valuesOf(line)['to'], 'out/new');
});

test('a switch that is off is no other key', async (t) => {
  for (const [line, env] of [
    ['export docs.example.com', { STATIC_EXPORT_KEY_STDIN: 'false' }],
    ['export docs.example.com', { STATIC_EXPORT_KEY_STDIN: '0' }],
    ['export docs.example.com --key-stdin=false', {}],
    ['export docs.example.com --key-stdin=false', { STATIC_EXPORT_KEY_STDIN: 'true' }],
  ] as const) {
    const { line: found, folder } = await read(t, { user, env }, line);
    assert.equal(valuesOf(found)['keyFile'], join(folder, 'config/static-export/staging.key'));
  }
});

const everywhere = 'output ci results-dir quiet timeout request-timeout max-archive-size max-bundle-size';
/** What a repository may set, by command: a new flag of a command is not among them unless this list changes too. */
const settable: Readonly<Record<string, string>> = {
  export:
    'project-id base-path to values min-pages allow-missing-home-page max-shrink baseline unchanged-exit-code',
  run: 'file once publish values inspect-timeout',
  'bundle inspect': 'files',
  'bundle serve': 'base-path',
  'kit create': 'to',
  'conversations gaps': 'base-path',
};
test('a repository sets no flag that changes where a key or words go, what is trusted, or what is overwritten', async (t) => {
  let refused = 0;
  for (const command of commands) {
    const allowed = `${everywhere} ${settable[command.words] ?? ''}`.split(' ');
    for (const key of Object.keys(command.description.flags)) {
      if (allowed.includes(flagName(key))) continue;
      const words = command.words.split(' ');
      const text = `${words.map((word, at) => `${'  '.repeat(at)}${word}:\n`).join('')}${'  '.repeat(words.length)}${key}: x\n`;
      refused += 1;
      await assert.rejects(
        read(t, { repository: text }, 'bundle inspect x.tar'),
        {
          code: 'ConfigurationRefused',
          message: new RegExp(`^static-export.yaml: ${words.join('.')}.${key} may not`),
        },
        text,
      );
    }
  }
  assert.ok(refused > 100, `${refused} flags`);
  const names = commands.map(({ words }) => words);
  assert.deepEqual(
    Object.keys(repositoryFlags).filter((words) => !names.includes(words)),
    [],
  );
});

const refusals: readonly (readonly [string, Case, RegExp])[] = [
  [
    'an unknown field',
    { repository: 'export: { minPagez: 1 }' },
    /^static-export\.yaml: export\.minPagez is not a field; did you mean minPages\?$/,
  ],
  [
    'an unknown section',
    { repository: 'exprot: {}' },
    /^static-export\.yaml: exprot is not a field; did you mean export\?$/,
  ],
  [
    'an address at the top',
    { repository: 'apiBaseUrl: https://x' },
    /^static-export\.yaml: apiBaseUrl may not be set by a repository/,
  ],
  [
    'a path outside',
    { repository: 'export: { to: ../other }' },
    /^static-export\.yaml: export\.to must be a path inside/,
  ],
  ['an absolute path', { repository: 'export: { to: /etc/nginx }' }, /export\.to must be a path inside/],
  [
    'a path of --publish outside',
    { repository: 'run: { publish: [dir=../x] }' },
    /run\.publish must be a path inside/,
  ],
  ['a map for a value', { repository: 'export: { to: { a: b } }' }, /export\.to must be a text, a number/],
  ['a list for a section', { repository: 'export: [a]' }, /export must be a map/],
  [
    'broken YAML',
    { repository: 'a: b\nexport: {' },
    /^static-export\.yaml is not valid YAML in line 2 \([A-Z_]+\)$/,
  ],
  ['an alias', { repository: 'quiet: &a true\nexport: { once: *a }' }, /uses a YAML alias in line 2; write/],
  ['an alias of nothing', { repository: 'quiet: *nope' }, /uses a YAML alias in line 1; write/],
  [
    'a file of 64 KiB',
    { repository: `quiet: true\n#${'x'.repeat(64 * 1024)}` },
    /^static-export\.yaml is longer than 64 KiB; shorten it$/,
  ],
  [
    'a pipe',
    { prepare: (folder) => execFileSync('mkfifo', [join(folder, 'repository/static-export.yaml')]) },
    /^static-export\.yaml is not a regular file; replace it$/,
  ],
  ...['/dev/zero', '/etc/passwd', '../../outside.yaml', '/nothing'].map(
    (target) =>
      [
        `a link to ${target}`,
        { prepare: (folder: string) => symlinkSync(target, join(folder, 'repository/static-export.yaml')) },
        /^static-export\.yaml is a link out of the repository; replace it by a file$/,
      ] as const,
  ),
  [
    'standard output',
    { repository: 'export: { to: "-" }' },
    /export\.to must be a path inside the folder of the file/,
  ],
  [
    'where words of visitors go',
    { repository: 'conversations: { export: { to: talks } }' },
    /^static-export\.yaml: conversations\.export\.to may not be set by a repository, .* words of visitors/,
  ],
  [
    'a line that is no name of a field',
    { repository: '"root:x:0:0": { svc_4f1d secret: 1 }' },
    /^static-export\.yaml: … is not a field$/,
  ],
  [
    'a key',
    { user: 'profiles: { a: { apiKey: svc_secret } }' },
    /config\.yaml: profiles\.a\.apiKey may not be set, because the file holds no keys; name the key's file with keyFile$/,
  ],
  [
    'an unknown field of a profile',
    { user: 'profiles: { a: { keyfile: x } }' },
    /profiles\.a\.keyfile is not a field; did you mean keyFile\?$/,
  ],
  [
    'an unknown field of the user',
    { user: 'profile: a\nprofiles: {}' },
    /config\.yaml: profile is not a field; did you mean profiles\?$/,
  ],
  [
    'a wrong type',
    { user: 'profiles: { a: { allowPrivateLinks: svc_secret } }' },
    /profiles\.a\.allowPrivateLinks must be of type boolean$/,
  ],
  [
    'a profile that does not exist',
    { user, env: { STATIC_EXPORT_PROFILE: 'x' } },
    /^--profile names no profile of .*; it has staging, production$/,
  ],
  [
    'a current profile that does not exist',
    { user: 'currentProfile: x\nprofiles: {}' },
    /currentProfile names no profile/,
  ],
  [
    'a profile without a file',
    { env: { STATIC_EXPORT_PROFILE: 'x' } },
    /^--profile names a profile, but there is no \$XDG_CONFIG_HOME\/static-export\/config\.yaml; add it there$/,
  ],
  [
    'a key without its address',
    { user: 'currentProfile: a\nprofiles: { a: { keyFile: x } }' },
    /keyFile needs apiBaseUrl in the same profile/,
  ],
];
for (const [name, given, message] of refusals) {
  test(`${name} is refused with file and field, and no value is repeated`, async (t) => {
    await assert.rejects(read(t, given, 'export docs.example.com'), (error: Error) => {
      assert.match(error.message, message);
      assert.doesNotMatch(error.message, /svc_secret/);
      return true;
    });
  });
}

test('a value that its flag refuses names file and field', async (t) => {
  const { line } = await read(
    t,
    { repository: 'export: { minPages: many }', user },
    'export docs.example.com',
  );
  assert.ok(line.outcome === 'refuse');
  assert.equal(line.reason, 'static-export.yaml: export.minPages must be a whole number of at most 10000000');
});

test('a file of the user that others can write is refused', async (t) => {
  for (const [path, mode] of [
    ['static-export/config.yaml', 0o620],
    ['static-export/config.yaml', 0o602],
    ['static-export', 0o777],
  ] as const) {
    const folder = temporaryFolder(t);
    mkdirSync(join(folder, 'static-export'));
    writeFileSync(join(folder, 'static-export/config.yaml'), user, { mode: 0o600 });
    chmodSync(join(folder, path), mode);
    const [command = assert.fail()] = commands;
    const context = { cwd: folder, env: { XDG_CONFIG_HOME: folder }, userId: process.getuid?.() };
    const result = readConfiguration(command, [], commands, context);
    await assert.rejects(result, { code: 'ConfigurationRefused', message: /can be written by other users/ });
  }
});

test('help reads no file', async (t) => {
  const { line } = await read(t, { repository: 'broken: {' }, 'export --help');
  assert.equal(line.outcome, 'print');
});

for (const [broken, message] of [
  ['export: {', /^static-export\.yaml is not valid YAML in line 1 .* goes on without it$/],
  ['[a]', /^static-export\.yaml must be a map of fields/],
  ['exprot: {}', /^static-export\.yaml: exprot is not a field/],
  ['export: { minPagez: 1 }', /^static-export\.yaml: export\.minPagez is not a field/],
  ['quiet: { a: b }', /^static-export\.yaml: quiet must be a text/],
  [`domain: ${'x'.repeat(300_000)}`, /^static-export\.yaml is longer than 64 KiB/],
] as const) {
  test(`"${broken.slice(0, 30)}" stops only commands that take settings from the file`, async (t) => {
    for (const words of ['get', 'rollback docs', 'bundle verify x.tar', 'completion bash']) {
      const { line, warnings } = await read(t, { repository: broken }, words);
      assert.equal(line.outcome, 'run');
      assert.equal(warnings.length, 1);
      assert.match(warnings[0] ?? '', message);
    }
    for (const words of ['export docs.example.com', 'run -f x --state y', 'bundle serve x.tar'])
      await assert.rejects(read(t, { repository: broken }, words), CliError);
  });
}

test('a section of the command itself must be valid, also where the rest of the file does not matter', async (t) => {
  for (const [own, words] of [
    ['get: { minPagez: 1 }', 'get'],
    ['bundle: { verify: [a] }', 'bundle verify x.tar'],
    ['bundle: []', 'bundle verify x.tar'],
  ] as const)
    await assert.rejects(read(t, { repository: own }, words), { code: 'ConfigurationInvalid' });
  const other = { repository: 'bundle: { verify: { maxBundleSize: 5MiB }, inspekt: {} }' };
  const { line, warnings } = await read(t, other, 'bundle verify x.tar');
  assert.deepEqual([valuesOf(line)['maxBundleSize'], warnings.length], [5 * 1024 * 1024, 1]);
});
