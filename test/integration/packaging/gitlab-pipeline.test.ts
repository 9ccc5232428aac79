// The pipeline of this project for GitLab: what must hold of its jobs, and their scripts in a shell with the documented
// variables. Only what builds or publishes is a stub, and its calls are the effects. Its schema: workflows.test.ts.

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { z } from 'zod';
import { type CommandResult, runCommand } from '../../support/command.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { imageDigest, type StubPrograms, stubPrograms } from './stub-programs.ts';
import { strictShell } from './workflow-runner.ts';

const token = 'glcbt-0123456789abcdef';
const minisignKey = 'untrusted comment: a key\nRWQ=\n';
const gitlabJob = z.looseObject({
  stage: z.string().optional(),
  extends: z.string().optional(),
  timeout: z.string().optional(),
  script: z.array(z.string()).optional(),
  rules: z.array(z.looseObject({ if: z.string(), when: z.string().optional() })).optional(),
  resource_group: z.string().optional(),
});
const reserved = new Set(['stages', 'workflow', 'default']);
const pipeline = z
  .record(z.string(), z.unknown())
  .parse(parse(readFileSync(resolve(import.meta.dirname, '../../../.gitlab-ci.yml'), 'utf8')));
const gitlabJobs = new Map(
  Object.entries(pipeline)
    .filter(([name]) => !reserved.has(name) && !name.startsWith('.'))
    .map(([name, job]) => [name, gitlabJob.parse(job)]),
);
const [guard = ''] = z
  .object({ before_script: z.array(z.string()) })
  .parse(pipeline['default']).before_script;
const onTag = gitlabJob.parse(pipeline['.on-tag']).rules;
const gitlabVariables = {
  ...{ GITLAB_CI: 'true', CI_COMMIT_TAG: 'v0.1.0', CI_JOB_IMAGE: `node@${imageDigest}`, CI_JOB_TOKEN: token },
  ...{ CI_API_V4_URL: 'https://gitlab.example.com/api/v4', CI_PROJECT_ID: '7' },
  ...{ CI_PROJECT_URL: 'https://gitlab.example.com/docs/exports', CI_REGISTRY: 'registry.example.com' },
  ...{ CI_REGISTRY_IMAGE: 'registry.example.com/docs/exports', CI_REGISTRY_USER: 'gitlab-ci-token' },
  ...{ CI_REGISTRY_PASSWORD: token },
};

/** The jobs in the order of their stages, in one folder: artifacts of a job are there in the next. */
async function playPipeline(
  folder: string,
  stubs: StubPrograms,
  names: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<CommandResult> {
  const workspace = join(folder, 'project');
  mkdirSync(join(workspace, '.ci'), { recursive: true });
  writeFileSync(join(workspace, '.ci/run'), '#!/bin/sh\necho tested >> "$STUB_CALLS"\n', { mode: 0o755 });
  let last: CommandResult = { code: 0, stdout: '', stderr: '' };
  for (const name of names) {
    const lines = ['cd "$CI_PROJECT_DIR"', guard, ...(gitlabJobs.get(name)?.script ?? [])];
    last = await runCommand([...strictShell, lines.join('\n')], {
      env: { ...gitlabVariables, ...env, ...stubs.env, CI_PROJECT_DIR: workspace },
    });
    if (last.code !== 0) return last;
  }
  return last;
}

test('jobs of GitLab have a limit of time, and those that publish run for tags alone, one at a time', () => {
  for (const [name, { timeout }] of gitlabJobs) assert.ok(timeout !== undefined, name);
  assert.deepEqual(onTag, [{ if: '$CI_COMMIT_TAG' }]);
  for (const name of ['check-tag', 'publish']) assert.equal(gitlabJobs.get(name)?.extends, '.on-tag');
  assert.deepEqual(gitlabJobs.get('release')?.rules, [{ if: '$CI_COMMIT_TAG', when: 'manual' }]);
  for (const name of ['publish', 'release']) assert.equal(gitlabJobs.get(name)?.resource_group, 'release');
});

test('the GitLab pipeline of a tag tests, pushes, and publishes each file with the notes', async (t) => {
  const folder = temporaryFolder(t);
  const stubs = stubPrograms(folder);
  const { code, stderr } = await playPipeline(folder, stubs, [...gitlabJobs.keys()]);
  assert.equal(code, 0, stderr);
  const calls = stubs.calls().map((call) => call.join(' ').replaceAll(folder, ''));
  const files = 'https://gitlab.example.com/api/v4/projects/7/packages/generic/static-export/0.1.0';
  const curl = `curl --fail-with-body --silent --show-error --header JOB-TOKEN: ${token}`;
  const names = ['RELEASE-NOTES.md', 'checksums.txt', 'image-0.1.0.oci.tar'];
  assert.deepEqual(
    calls.filter((call) => !call.startsWith('npm ci')),
    [
      'npm run check',
      'npm run check:version -- --tag v0.1.0',
      'tested',
      'npm run build:package',
      'npm install --global --prefix /project/dist/installed ./dist/static-export-cli-0.1.0.tgz',
      'npm exec -- node /project/dist/installed/bin/static-export demo --once',
      'npm run release -- --out release --push registry.example.com/docs/exports --require-image --require-audit ' +
        '--source-url https://gitlab.example.com/docs/exports ' +
        `--download-url ${files} --builder-id https://gitlab.example.com/docs/exports/-/pipelines`,
      ...names.map((name) => `${curl} --upload-file ${name} ${files}/${name}`),
      `${curl} --json @- https://gitlab.example.com/api/v4/projects/7/releases`,
    ],
  );
  assert.deepEqual(JSON.parse(readFileSync(join(folder, 'used-config.json'), 'utf8')), {
    auths: { 'registry.example.com': { username: 'gitlab-ci-token', password: token } },
  });
  assert.deepEqual(JSON.parse(readFileSync(join(folder, 'sent.json'), 'utf8')), {
    tag_name: 'v0.1.0',
    description: 'First line.\n',
    assets: { links: names.map((name) => ({ name, url: `${files}/${name}` })) },
  });
});

test('GitLab signs with a key that is given, and refuses an image that is not by digest', async (t) => {
  const folder = temporaryFolder(t);
  const stubs = stubPrograms(folder);
  writeFileSync(join(folder, 'key'), minisignKey);
  const signed = await playPipeline(folder, stubs, ['publish'], { MINISIGN_KEY: join(folder, 'key') });
  assert.equal(signed.code, 0, signed.stderr);
  assert.equal(readFileSync(join(folder, 'used-key'), 'utf8'), minisignKey);
  const before = stubs.calls().length;
  for (const image of ['node:26', '']) {
    const { code, stderr } = await playPipeline(folder, stubs, ['check'], { CI_JOB_IMAGE: image });
    assert.equal(code, 1);
    assert.equal(
      stderr,
      "CI_IMAGE is not an image by digest. Set it to NAME@sha256:DIGEST in the project's settings.\n",
    );
  }
  assert.equal(stubs.calls().length, before);
});

test('GitLab publishes nothing where a file differs from its sum', async (t) => {
  const folder = temporaryFolder(t);
  const stubs = stubPrograms(folder);
  assert.equal((await playPipeline(folder, stubs, ['publish'])).code, 0);
  writeFileSync(join(folder, 'project/release/RELEASE-NOTES.md'), 'Another line.\n');
  assert.equal((await playPipeline(folder, stubs, ['release'])).code, 1);
  assert.deepEqual(
    stubs.calls().filter(([program]) => program === 'curl'),
    [],
  );
});
