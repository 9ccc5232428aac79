// The command in a pipeline, as GitHub Actions, GitLab CI and Tekton run it: their documented variables and folders, the
// a scripted export API. What a pipeline reads holds neither the key nor the link.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { runInProcess } from '../../support/cli-in-process.ts';
import { type CommandResult, runCommand } from '../../support/command.ts';
import { programFile } from '../../support/program-file.ts';
import { seeText } from '../../support/secret-watch.ts';
import { tarOf } from '../../support/tar-builder.ts';
import { key, type ScriptedVendor, startVendor, status } from './environment/scripted-vendor.ts';

const pages = { 'index.html': '<h1>home</h1>', 'a/index.html': '<h1>a</h1>', 'b.html': '<h1>b</h1>' };

interface Workplace {
  readonly vendor: ScriptedVendor;
  readonly folder: string;
  readonly file: (name: string) => string;
  readonly run: (
    env: Readonly<Record<string, string>>,
    ...flags: readonly string[]
  ) => Promise<CommandResult>;
}

async function workplaceFor(t: TestContext): Promise<Workplace> {
  const vendor = await startVendor(gzipSync(tarOf(pages)));
  t.after(() => vendor.close());
  const folder = mkdtempSync(join(tmpdir(), 'cli-pipeline-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return {
    vendor,
    folder,
    file: (name) => readFileSync(join(folder, name), 'utf8'),
    run: async (env, ...flags) => {
      const words = [
        'export',
        'docs.example.com',
        '--to',
        join(folder, 'site'),
        '--timeout',
        '60s',
        ...flags,
      ];
      const options = {
        env: {
          GITHUB_ACTIONS: '',
          GITLAB_CI: '',
          STATIC_EXPORT_API_BASE_URL: vendor.url,
          STATIC_EXPORT_API_KEY: key,
          STATIC_EXPORT_ALLOW_PRIVATE_LINKS: 'true',
          STATIC_EXPORT_STATE: join(folder, 'state'),
          ...env,
        },
      };
      // Colours are what Node decides for a process.
      const result =
        env['FORCE_COLOR'] === undefined
          ? await runInProcess(words, options)
          : await runCommand([process.execPath, programFile('static-export'), ...words], options);
      const files = readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((one) => one.isFile())
        .map((one) => readFileSync(join(one.parentPath, one.name), 'latin1'));
      for (const text of [result.stdout, result.stderr, ...files]) seeText('what a step wrote', text);
      return result;
    },
  };
}

/** Files as a runner makes them, with what an earlier step wrote. */
function githubFiles(folder: string): Readonly<Record<string, string>> {
  const [output, summary] = ['github-output', 'github-summary'].map((name) => join(folder, name));
  writeFileSync(output ?? '', 'earlier=1\n');
  writeFileSync(summary ?? '', '');
  return { GITHUB_ACTIONS: 'true', GITHUB_OUTPUT: output ?? '', GITHUB_STEP_SUMMARY: summary ?? '' };
}

test('GitHub Actions gets outputs and a summary, and standard output stays JSON', async (t) => {
  const { folder, file, run } = await workplaceFor(t);
  const { code, stdout, stderr } = await run(githubFiles(folder), '-o', 'json');
  assert.equal(code, 0, stderr);
  const result = JSON.parse(stdout);
  const outputs = file('github-output');
  assert.match(outputs, /^earlier=1\nversion<<(static-export-[0-9a-f-]{36})\n[0-9a-f-]+\n\1\n/);
  for (const [name, value] of [
    ['version', result.version],
    ['digest', result.digest],
    ['pages', '3'],
    ['changed', 'true'],
    ['path', result.path],
    ['exitCode', '0'],
  ])
    assert.ok(outputs.includes(`${name}<<`) && outputs.includes(`\n${value}\n`), name);
  assert.match(file('github-summary'), /^### static-export export&#58; done\n/);
  assert.ok(file('github-summary').includes(`| digest | ${result.digest} |`));
  assert.doesNotMatch(stderr, /^::/m);
});

test('a failure on GitHub Actions is one annotation with what helps, and has outputs', async (t) => {
  const { folder, file, run } = await workplaceFor(t);
  const env = githubFiles(folder);
  const held = await run(env, '--min-pages', '10');
  assert.equal(held.code, 7);
  assert.equal(held.stdout, '');
  assert.match(
    held.stderr,
    /^::error title=static-export export::the export has 3 pages .*\(TooFewPages\)%0A.*--min-pages.*$/m,
  );
  assert.doesNotMatch(held.stderr, /^static-export export: /m);
  assert.match(file('github-output'), /\npages<<(\S+)\n3\n\1\nexitCode<<(\S+)\n7\n\2\n$/);
  assert.match(file('github-summary'), /failed \(TooFewPages\)/);
  const usage = await run(env, '--min-pages', 'x');
  assert.deepEqual([usage.code, usage.stdout], [2, '']);
  assert.match(usage.stderr, /^::error title=static-export export::--min-pages must be/);
});

test('an archive that is not valid and a check that failed are annotations', async (t) => {
  const { folder } = await workplaceFor(t);
  const archive = join(folder, 'site.tar');
  writeFileSync(archive, 'cut off');
  const commands = [
    ['bundle', 'verify', archive],
    ['doctor', '--kubeconfig', join(folder, 'none')],
  ];
  for (const words of commands) {
    for (const [pipeline, pattern] of [
      ['github', /^::error title=static-export [a-z ]+::[^%]+ \([A-Za-z]+\)%0A\S.*\n$/],
      ['gitlab', /^static-export [a-z ]+: error: .+ \([A-Za-z]+\)\n {2}\S.*\n$/],
      ['none', /^(?!.*error:)/i],
    ] as const) {
      const argv = [...words, '--ci', pipeline, '--quiet'];
      const { code, stderr } = await runInProcess(argv, { env: { KUBECONFIG: '' } });
      assert.equal(code, 1);
      assert.match(stderr, pattern);
    }
  }
});

test('the names of files in an archive are no workflow commands', async (t) => {
  const { folder } = await workplaceFor(t);
  const archive = join(folder, 'site.tar');
  writeFileSync(archive, tarOf({ 'index.html': 'x', '::set-output name=x::y': 'x', 'a/##[error]b': 'x' }));
  for (const format of ['text', 'json', 'yaml']) {
    const words = ['bundle', 'inspect', archive, '--files', '--quiet', '-o', format];
    const { code, stdout, stderr } = await runInProcess(words, { env: githubFiles(folder) });
    assert.deepEqual([code, stderr], [0, '']);
    assert.ok(stdout.includes('::set-output'));
    assert.deepEqual(
      stdout.split('\n').filter((line) => /^\s*::|##/.test(line)),
      [],
    );
  }
});

test('an output file that cannot be written is exit 9, and the export is not lost', async (t) => {
  const { folder, run } = await workplaceFor(t);
  const env = { ...githubFiles(folder), GITHUB_OUTPUT: join(folder, 'no/such/file') };
  const { code, stdout } = await run(env, '-o', 'json');
  assert.deepEqual([code, JSON.parse(stdout).code], [9, 'DestinationNotWritten']);
  assert.equal((await run({}, '-o', 'json')).code, 0);
});

test('GitLab CI gets sections for phases, and a dotenv report', async (t) => {
  const { folder, file, run } = await workplaceFor(t);
  const results = join(folder, 'results');
  const { code, stderr } = await run({ GITLAB_CI: 'true' }, '--results-dir', results);
  assert.equal(code, 0, stderr);
  // Without the terminal's own characters, which end a mark.
  const lines = stderr.replaceAll('\r\u001b[0K', ' ');
  const started = [...lines.matchAll(/^section_start:\d{10}:(\w+) \S/gm)].map(([, id]) => id);
  const ended = [...lines.matchAll(/^section_end:\d{10}:(\w+) $/gm)].map(([, id]) => id);
  assert.ok(started.length >= 4);
  assert.deepEqual(started, ended);
  assert.match(
    file('results/results.env'),
    /^EXPORT_VERSION=\S+\nEXPORT_DIGEST=[0-9a-f]{64}\nEXPORT_PAGES=3\nEXPORT_CHANGED=true\nEXPORT_PATH=\S+\nEXPORT_EXIT_CODE=0\n$/,
  );
});

test('Tekton gets a file for each result, and none of an earlier run', async (t) => {
  const { folder, file, run, vendor } = await workplaceFor(t);
  const results = join(folder, 'results');
  const { code, stdout } = await run({}, '--results-dir', results, '-o', 'json');
  assert.equal(code, 0);
  const { version, digest, path } = JSON.parse(stdout);
  const names = ['changed', 'digest', 'exitCode', 'pages', 'path', 'results.env', 'version'];
  assert.deepEqual(readdirSync(results).sort(), names);
  assert.deepEqual(
    ['version', 'digest', 'path', 'changed'].map((name) => file(`results/${name}`)),
    [version, digest, path, 'true'],
  );
  await run({}, '--results-dir', results);
  assert.equal(file('results/changed'), 'false');
  vendor.answers = { start: status(401) };
  assert.equal((await run({}, '--results-dir', results)).code, 3);
  assert.deepEqual(readdirSync(results).sort(), ['exitCode', 'results.env']);
  assert.equal(file('results/exitCode'), '3');
});

test('a results folder with files of the user is refused, and each file stays as it is', async (t) => {
  const { folder, run, vendor } = await workplaceFor(t);
  const results = join(folder, 'results');
  const own = { version: 'precious', path: 'mine', 'results.env': 'OTHER=1\n' };
  mkdirSync(results);
  for (const [name, text] of Object.entries(own)) writeFileSync(join(results, name), text);
  for (const env of ['with', 'without']) {
    if (env === 'without') rmSync(join(results, 'results.env'));
    const names = readdirSync(results);
    const { code, stdout } = await run({}, '--results-dir', results, '-o', 'json');
    assert.deepEqual([code, JSON.parse(stdout).code, vendor.jobs.size], [2, 'ResultsFolderRefused', 0]);
    assert.deepEqual(readdirSync(results), names);
    assert.equal(readFileSync(join(results, 'version'), 'utf8'), 'precious');
  }
});

test('results of other steps in the folder stay', async (t) => {
  const { folder, file, run } = await workplaceFor(t);
  const results = join(folder, 'results');
  mkdirSync(results);
  writeFileSync(join(results, 'image'), 'registry/image');
  for (const changed of ['true', 'false']) {
    assert.equal((await run({}, '--results-dir', results)).code, 0);
    assert.deepEqual([file('results/image'), file('results/changed')], ['registry/image', changed]);
  }
});

test('a results folder that cannot be written is found before a job is started', async (t) => {
  const { folder, run, vendor } = await workplaceFor(t);
  writeFileSync(join(folder, 'file'), '');
  const { code, stdout } = await run({}, '--results-dir', join(folder, 'file'), '-o', 'json');
  assert.deepEqual([code, JSON.parse(stdout).code, vendor.jobs.size], [2, 'ResultsFolderRefused', 0]);
});

test('a results folder that cannot be made is reported once, with the cause', async (t) => {
  const { folder, run } = await workplaceFor(t);
  writeFileSync(join(folder, 'file'), '');
  const { code, stderr } = await run({}, '--results-dir', join(folder, 'file/a/b'));
  assert.deepEqual([code, stderr.match(/--results-dir/g)?.length], [2, 1]);
  assert.match(stderr, /\(ENOTDIR\)/);
});

test('colours are only where they are asked for, and never in a document', async (t) => {
  const { run } = await workplaceFor(t);
  const sequence = '\u001b[';
  const plain = await run({});
  assert.ok(!plain.stdout.includes(sequence) && plain.stdout.startsWith('Exported docs.example.com'));
  const coloured = await run({ FORCE_COLOR: '1' });
  assert.ok(coloured.stdout.startsWith(`${sequence}2mUnchanged:`), coloured.stdout);
  assert.ok(!(await run({ FORCE_COLOR: '1' }, '-o', 'json')).stdout.includes(sequence));
  const failed = await run({ FORCE_COLOR: '1' }, '--key-file', '/nothing');
  assert.match(
    failed.stderr.replaceAll(sequence, '<'),
    /^<31mstatic-export export:<39m --key-file cannot be read/m,
  );
});
