// The workflows of this project, judged by the schemas of GitHub and GitLab, and those of GitHub by what must hold of them:
// least permissions, actions by digest, limits of time. Every shell step runs with the documented variables; only what builds
// or publishes is a stub, and its calls are the effects. The pipeline of GitLab runs in gitlab-pipeline.test.ts.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type TestContext, test } from 'node:test';
import { parse } from 'yaml';
import { z } from 'zod';
import { findCheckJsonSchema } from '../../support/check-jsonschema.ts';
import { type CommandResult, runCommand } from '../../support/command.ts';
import { maySkip } from '../../support/may-skip.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { imageDigest, type StubPrograms, stubPrograms } from './stub-programs.ts';
import { runWorkflow, type Workflow, type WorkflowRun, workflowShape } from './workflow-runner.ts';

const root = resolve(import.meta.dirname, '../../..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const workflows = ['.github/workflows/ci.yaml', '.github/workflows/release.yaml'] as const;
const gitlab = '.gitlab-ci.yml';
const workflowIn = (file: string): Workflow => workflowShape.parse(parse(read(file)));
const token = 'ghs_0123456789abcdef';
const minisignKey = 'untrusted comment: a key\nRWQ=';

for (const [file, schema] of [
  ...workflows.map((name) => [name, 'vendor.github-workflows'] as const),
  [gitlab, 'vendor.gitlab-ci'] as const,
]) {
  test(`${file} is valid for the schema of its platform`, async (t) => {
    const found = await findCheckJsonSchema();
    if ('missing' in found) {
      t.skip(maySkip('jsonschema', found.missing) || '');
      return;
    }
    const transform = file === gitlab ? ['--data-transform', 'gitlab-ci'] : [];
    const judge = (path: string): Promise<CommandResult> =>
      runCommand([...found.command, '--builtin-schema', schema, ...transform, path]);
    const { code, stdout } = await judge(join(root, file));
    assert.equal(code, 0, stdout);
    const broken = join(temporaryFolder(t), 'broken.yaml');
    writeFileSync(broken, read(file).replace(/^( +)(timeout(?:-minutes)?): .*$/m, '$1$2: [1]'));
    assert.equal((await judge(broken)).code, 1);
  });
}

/** The permissions of each job, and nothing more. */
const permissions: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  '.github/workflows/ci.yaml': {
    check: ['contents: read'],
    test: ['contents: read'],
    platform: ['contents: read'],
  },
  '.github/workflows/release.yaml': {
    test: ['contents: read'],
    publish: ['contents: read', 'packages: write'],
    attest: ['actions: read', 'attestations: write', 'id-token: write'],
    draft: ['actions: read', 'contents: write'],
  },
};
for (const file of workflows) {
  test(`${file} gives each job its least permissions and a limit of time`, () => {
    const { jobs } = workflowIn(file);
    const found = Object.entries(jobs).map(([name, job]) => [
      name,
      Object.entries(job.permissions)
        .map(([scope, access]) => `${scope}: ${access}`)
        .sort(),
    ]);
    assert.deepEqual(Object.fromEntries(found), permissions[file]);
    for (const [name, job] of Object.entries(jobs)) assert.ok(job['timeout-minutes'] <= 180, name);
  });

  test(`${file} names actions by digest, keeps no credentials, and puts no expression into a script`, () => {
    const uses = [...read(file).matchAll(/^ *- uses: (.*)$/gm)].map(([, text = '']) => text);
    assert.ok(uses.length > 0);
    for (const text of uses) assert.match(text, /^actions\/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    for (const { steps } of Object.values(workflowIn(file).jobs)) {
      for (const step of steps) {
        assert.doesNotMatch(step.run ?? '', /\$\{\{/);
        if (step.uses?.startsWith('actions/checkout@'))
          assert.equal(step.with['persist-credentials'], 'false');
      }
    }
  });
}

test('one action has one digest and one version', () => {
  const all = workflows.flatMap((file) => [...read(file).matchAll(/uses: (\S+)@(\S+) # (\S+)/g)]);
  const digests = new Map<string, string>();
  for (const [, name = '', digest = '', version = ''] of all) {
    const known = digests.get(name) ?? `${digest} ${version}`;
    assert.equal(`${digest} ${version}`, known, name);
    digests.set(name, known);
  }
  assert.equal(digests.size, 3);
});

test('every npm script that a workflow runs is in package.json', () => {
  const { scripts } = z
    .object({ scripts: z.record(z.string(), z.string()) })
    .parse(JSON.parse(read('package.json')));
  const named = [...workflows, gitlab].flatMap((file) =>
    [...read(file).matchAll(/\bnpm run (?:--silent )?([a-z:]+)/g)].map(([, name = '']) => name),
  );
  const missing = new Set(named).difference(new Set(Object.keys(scripts)));
  assert.deepEqual([[...missing], new Set(named).size], [[], 5]);
});

const variables = {
  GITHUB_REF_NAME: 'v0.1.0',
  GITHUB_REPOSITORY: 'Docs/Exports',
  GITHUB_SERVER_URL: 'https://github.com',
  GITHUB_RUN_ID: '17',
  GITHUB_ACTOR: 'publisher',
};
const values = new Map([
  ['github.token', token],
  ['vars.TESTS_MAY_SKIP', 'nodes'],
  ['vars.DEBIAN_MIRROR', 'http://mirror.example.com/debian'],
  ['secrets.MINISIGN_KEY', minisignKey],
]);

interface Played {
  readonly folder: string;
  readonly stubs: StubPrograms;
  readonly run: WorkflowRun;
  /** Programs with their arguments, joined, without those of npm ci. */
  readonly calls: readonly string[];
}

async function play(
  t: TestContext,
  file: string,
  changes: {
    readonly env?: Readonly<Record<string, string>>;
    readonly values?: ReadonlyMap<string, string>;
  } = {},
): Promise<Played> {
  const folder = temporaryFolder(t);
  const stubs = stubPrograms(folder);
  const known = new Map([...values, ...(changes.values ?? [])]);
  const run = await runWorkflow(workflowIn(file), folder, stubs, known, { ...variables, ...changes.env });
  const calls = stubs
    .calls()
    .map((call) => call.join(' ').replaceAll(folder, ''))
    .filter((call) => !call.startsWith('npm ci'));
  return { folder, stubs, run, calls };
}

test('a push checks, tests as root, and runs the package on its platform', async (t) => {
  const { run, calls } = await play(t, '.github/workflows/ci.yaml');
  assert.equal(run.failed, undefined);
  assert.equal(calls[0], 'npm run check');
  assert.match(calls[1] ?? '', /^sudo --preserve-env=TESTS_MAY_SKIP env PATH=\S+ \.ci\/run$/);
  assert.deepEqual(calls.slice(2), [
    'npm run build:package',
    'npm install --global --prefix /platform/temp/installed ./dist/static-export-cli-0.1.0.tgz',
    'npm exec -- node /platform/temp/installed/bin/static-export demo --once',
  ]);
  assert.deepEqual(workflowIn('.github/workflows/ci.yaml').jobs['platform']?.strategy?.matrix['runner'], [
    'ubuntu-24.04',
    'ubuntu-24.04-arm',
  ]);
});

test('a tag becomes a tested, pushed, attested draft of a release', async (t) => {
  const { folder, run, calls } = await play(t, '.github/workflows/release.yaml');
  assert.equal(run.failed, undefined, JSON.stringify(run.failed));
  const [check, tests, ...others] = calls;
  assert.equal(check, 'npm run check:version -- --tag v0.1.0');
  assert.match(tests ?? '', /\.ci\/run$/);
  const download = (job: string): string =>
    `gh run download 17 --repo Docs/Exports --name release --dir /${job}/temp/release`;
  assert.deepEqual(others, [
    'npm run release -- --out /publish/temp/release --push ghcr.io/docs/exports --require-image --require-audit ' +
      '--debian-mirror http://mirror.example.com/debian --source-url https://github.com/Docs/Exports ' +
      '--download-url https://github.com/Docs/Exports/releases/download/v0.1.0 ' +
      '--builder-id https://github.com/Docs/Exports/actions/workflows/release.yaml --key /publish/temp/minisign.key',
    download('attest'),
    download('draft'),
    'gh release create v0.1.0 --repo Docs/Exports --draft --verify-tag --title v0.1.0 --notes-file RELEASE-NOTES.md ' +
      './RELEASE-NOTES.md ./checksums.txt ./image-0.1.0.oci.tar',
  ]);
  assert.equal(readFileSync(join(folder, 'used-key'), 'utf8'), `${minisignKey}\n`);
  assert.deepEqual(JSON.parse(readFileSync(join(folder, 'used-config.json'), 'utf8')), {
    auths: { 'ghcr.io': { username: 'publisher', password: token } },
  });
  assert.deepEqual(run.attested, [
    { 'subject-checksums': join(folder, 'attest/temp/release/checksums.txt') },
    { 'subject-name': 'ghcr.io/docs/exports/static-export-operator', 'subject-digest': imageDigest },
  ]);
  assert.ok(!calls.join().includes(token), 'no token is an argument');
});

test('a prerelease is one on GitHub too, and without a key nothing is signed', async (t) => {
  const { folder, run, calls } = await play(t, '.github/workflows/release.yaml', {
    env: { GITHUB_REF_NAME: 'v0.2.0-rc.1' },
    values: new Map([['secrets.MINISIGN_KEY', '']]),
  });
  assert.equal(run.failed, undefined, JSON.stringify(run.failed));
  assert.match(calls.at(-1) ?? '', /--notes-file RELEASE-NOTES\.md --prerelease \.\//);
  assert.ok(calls.every((call) => !call.includes('--key')));
  assert.ok(!existsSync(join(folder, 'used-key')));
});

for (const [script, job] of [
  ['check:version', 'test'],
  ['release', 'publish'],
] as const) {
  test(`nothing is published where npm run ${script} fails`, async (t) => {
    const { run, calls } = await play(t, '.github/workflows/release.yaml', { env: { FAILING: script } });
    assert.equal(run.failed?.job, job);
    assert.deepEqual(run.attested, []);
    assert.deepEqual(
      calls.filter((call) => /^gh /.test(call)),
      [],
    );
  });
}
