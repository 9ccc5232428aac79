// The recipes in examples/pipelines, each judged by its platform's own schema, and its steps run as the platform runs
// them: its documented variables, the built program, a scripted export API. The cron recipe serves with a real nginx.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { parse } from 'yaml';
import { findCheckJsonSchema } from '../../support/check-jsonschema.ts';
import { startProgram } from '../../support/child-program.ts';
import { type CommandResult, mustRun, runCommand } from '../../support/command.ts';
import { eventually } from '../../support/eventually.ts';
import { findFreePort } from '../../support/free-port.ts';
import { maySkip } from '../../support/may-skip.ts';
import { programFile } from '../../support/program-file.ts';
import { tarOf } from '../../support/tar-builder.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { key, type ScriptedVendor, startVendor } from './environment/scripted-vendor.ts';

const recipes = resolve(import.meta.dirname, '../../../examples/pipelines');
const recipe = (name: string): string => readFileSync(join(recipes, name), 'utf8');
const program = `${process.execPath} ${programFile('static-export')}`;
const pages = { 'index.html': 'first', 'a/index.html': '<h1>a</h1>', '404.html': 'not here' };
const nginx = '/usr/sbin/nginx';

type Environment = Readonly<Record<string, string>>;
interface Workplace {
  readonly vendor: ScriptedVendor;
  readonly folder: string;
  readonly setContent: (index: string) => void;
  /** Of every step: the program, and what allows a vendor on this machine. */
  readonly env: Environment;
}

async function workplaceFor(t: TestContext): Promise<Workplace> {
  const vendor = await startVendor(gzipSync(tarOf(pages)));
  t.after(() => vendor.close());
  const folder = temporaryFolder(t);
  const setContent = (index: string): void => {
    vendor.archive = gzipSync(tarOf({ ...pages, 'index.html': index }));
  };
  const env = { STATIC_EXPORT: program, STATIC_EXPORT_ALLOW_PRIVATE_LINKS: 'true' };
  return { vendor, folder, setContent, env };
}

/** A step, in a shell that ends at the first failure, as both platforms document. */
function runStep(script: string, cwd: string, env: Environment): Promise<CommandResult> {
  const text = `cd "$STEP_FOLDER"\n${script}`;
  return runCommand(['bash', '-e', '-o', 'pipefail', '-c', text], { env: { ...env, STEP_FOLDER: cwd } });
}

for (const [name, schema] of [
  ['github-actions.yaml', 'vendor.github-workflows'],
  ['gitlab-ci.yaml', 'vendor.gitlab-ci'],
] as const) {
  test(`${name} is valid for the schema of its platform`, async (t) => {
    const found = await findCheckJsonSchema();
    if ('missing' in found) {
      t.skip(maySkip('jsonschema', found.missing) || '');
      return;
    }
    const transform = name.startsWith('gitlab') ? ['--data-transform', 'gitlab-ci'] : [];
    const judge = (file: string): Promise<CommandResult> =>
      runCommand([...found.command, '--builtin-schema', schema, ...transform, file]);
    const { code, stdout } = await judge(join(recipes, name));
    assert.equal(code, 0, stdout);
    const folder = temporaryFolder(t);
    const broken = join(folder, name);
    writeFileSync(broken, recipe(name).replace(/^( +)(timeout(?:-minutes)?): .*$/m, '$1$2: [1]'));
    assert.equal((await judge(broken)).code, 1);
  });
}

test('the Tekton task uses only parameters and workspaces that it declares', () => {
  const { spec } = parse(recipe('tekton-task.yaml'));
  const names = (list: readonly { readonly name: string }[]): readonly string[] =>
    list.map(({ name }) => name);
  const declared = new Set([
    ...names(spec.params).map((name) => `params.${name}`),
    ...names(spec.workspaces).map((name) => `workspaces.${name}.path`),
  ]);
  const used = JSON.stringify(spec.steps).matchAll(/\$\(([^)]+)\)/g);
  const unknown = [...used].map(([, name = '']) => name).filter((name) => !declared.has(name));
  assert.ok(declared.size >= 4);
  assert.deepEqual(unknown, []);
});

interface GithubStep {
  readonly uses?: string;
  readonly run?: string;
  readonly id?: string;
  readonly if?: string;
  readonly env?: Environment;
  readonly with?: Environment;
}

test('the GitHub workflow commits the new version once, and nothing when the content is the same', async (t) => {
  const { vendor, folder, setContent, env } = await workplaceFor(t);
  const origin = join(folder, 'origin.git');
  const checkout = join(folder, 'checkout');
  await mustRun(['git', 'init', '--quiet', '--bare', '--initial-branch=main', origin]);
  await mustRun(['git', 'clone', '--quiet', origin, checkout]);
  mkdirSync(join(checkout, 'site'));
  writeFileSync(join(checkout, 'site/values.yaml'), '# Ours.\nreplicas: 2\n');
  mkdirSync(join(folder, 'temp'));
  const workflow = parse(recipe('github-actions.yaml'));
  const steps: readonly GithubStep[] = workflow.jobs.export.steps;
  const restored = steps.find(({ uses }) => uses?.startsWith('actions/cache/restore@'));
  const saved = steps.find(({ uses }) => uses?.startsWith('actions/cache/save@'));
  assert.deepEqual([saved?.if, saved?.with?.['path']], ['always()', restored?.with?.['path']]);
  assert.equal(saved?.with?.['key'], restored?.with?.['key']);
  // A cache is never written again, and the newest with the beginning of the key is restored.
  assert.match(saved?.with?.['key'] ?? '', /run_id.*run_attempt/);
  assert.ok(saved?.with?.['key']?.startsWith(restored?.with?.['restore-keys'] ?? 'none'));
  // What a person types is never a part of a script.
  for (const step of steps) assert.doesNotMatch(step.run ?? '', /\$\{\{/);
  const run = async (): Promise<void> => {
    const known = new Map([
      ['vars.EXPORT_API', vendor.url],
      ['secrets.EXPORT_API_KEY', key],
      ["inputs.max-shrink || '20'", '20'],
    ]);
    const evaluate = (text: string): string =>
      text.replace(/\$\{\{ ([^}]+) \}\}/g, (_all, name: string) => known.get(name) ?? assert.fail(name));
    for (const step of steps.filter(({ uses }) => uses === undefined)) {
      const [, output = '', wanted] = /^(\S+) == '(\w+)'$/.exec(step.if ?? '') ?? [];
      if (step.if !== undefined && known.get(output) !== wanted) continue;
      const outputFile = join(folder, 'output');
      writeFileSync(outputFile, '');
      const own = Object.entries(step.env ?? {}).map(([name, text]) => [name, evaluate(text)]);
      const { code, stderr, stdout } = await runStep(step.run ?? '', checkout, {
        ...workflow.env,
        ...env,
        GITHUB_ACTIONS: 'true',
        GITHUB_OUTPUT: outputFile,
        GITHUB_STEP_SUMMARY: join(folder, 'summary'),
        RUNNER_TEMP: join(folder, 'temp'),
        ...Object.fromEntries(own),
      });
      assert.equal(code, 0, stdout + stderr);
      for (const [, name, , value] of readFileSync(outputFile, 'utf8').matchAll(/^(\w+)<<(\S+)\n(.*)\n\2$/gm))
        known.set(`steps.${step.id}.outputs.${name}`, value ?? '');
    }
  };
  const history = (): Promise<string> => mustRun(['git', '-C', origin, 'log', '--format=%s', 'main']);
  await run();
  assert.match(await history(), /^Publish docs \S+ \(2 pages\)\n$/);
  const values = await mustRun(['git', '-C', origin, 'show', 'main:site/values.yaml']);
  assert.match(
    values,
    /^# Ours\.\nreplicas: 2\nstaticExport:\n {2}enabled: true\n {2}version: "?[0-9-]+[0-9a-f]+"?\n$/,
  );
  await run();
  assert.equal((await history()).split('\n').length, 2);
  setContent('second');
  await run();
  assert.equal((await history()).split('\n').length, 3);
});

test('the GitLab pipeline publishes the site, and the second job knows version and pages', async (t) => {
  const { vendor, folder, env } = await workplaceFor(t);
  const pipeline = parse(recipe('gitlab-ci.yaml'));
  const { STATIC_EXPORT_MAX_SHRINK: limit, ...plain } = pipeline.variables;
  const given = { STATIC_EXPORT_MAX_SHRINK: limit.value };
  const variables = { ...plain, ...given, ...env, GITLAB_CI: 'true', CI_PIPELINE_SOURCE: 'schedule' };
  const exported = await runStep(pipeline.export.script.join('\n'), folder, {
    ...variables,
    STATIC_EXPORT_API_BASE_URL: vendor.url,
    STATIC_EXPORT_API_KEY: key,
  });
  assert.equal(exported.code, 0, exported.stderr);
  assert.match(exported.stderr, /^section_start:\d+:/m);
  const [site] = pipeline.export.artifacts.paths;
  assert.equal(readFileSync(join(folder, site, 'index.html'), 'utf8'), 'first');
  const report = readFileSync(join(folder, pipeline.export.artifacts.reports.dotenv), 'utf8');
  const reported = Object.fromEntries(
    report
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/=(.*)/s)),
  );
  const deployed = await runStep(pipeline.pages.script.join('\n'), folder, { ...variables, ...reported });
  assert.match(deployed.stdout, /^Publishing version [0-9]{8}-\S+ with 2 pages\n$/);
  const [state] = pipeline.export.cache.paths;
  assert.ok(existsSync(join(folder, state, 'state.json')));
});

test('the Tekton task writes the site, and each result that it declares', async (t) => {
  const { vendor, folder, env } = await workplaceFor(t);
  const { spec } = parse(recipe('tekton-task.yaml'));
  const [step] = spec.steps;
  for (const name of ['site', 'key', 'results']) mkdirSync(join(folder, name));
  writeFileSync(join(folder, 'key/apiKey'), key);
  const values = new Map([
    ['params.domain', 'docs.example.com'],
    ['params.api-base-url', vendor.url],
    ['params.max-shrink', spec.params.find(({ name }: { name: string }) => name === 'max-shrink').default],
    ['workspaces.site.path', join(folder, 'site')],
    ['workspaces.key.path', join(folder, 'key')],
  ]);
  const args = step.args.map((arg: string) =>
    arg
      .replace(/\$\(([^)]+)\)/g, (_all, name: string) => values.get(name) ?? assert.fail(name))
      .replace('/tekton/results', join(folder, 'results')),
  );
  // The image's command, and the program's name there.
  assert.deepEqual(step.command.slice(1), ['/app/entrypoint.mjs', 'static-export']);
  const { code, stderr } = await runCommand([...program.split(' '), ...args], { env });
  assert.equal(code, 0, stderr);
  for (const { name } of spec.results)
    assert.notEqual(readFileSync(join(folder, 'results', name), 'utf8'), '', name);
  assert.equal(readFileSync(join(folder, 'site/public/index.html'), 'utf8'), 'first');
});

const nginxIsMissing = maySkip(
  'peers',
  !existsSync(nginx) && 'nginx is not installed (test/integration/install-packages.sh)',
);
test('the cron recipe goes from nothing to a served site, and swaps it without a failed request', {
  skip: nginxIsMissing,
}, async (t) => {
  const { vendor, folder, setContent, env } = await workplaceFor(t);
  const root = join(folder, 'docs');
  writeFileSync(join(folder, 'key'), key);
  const publish = async (more: Environment = {}): Promise<CommandResult> =>
    runCommand([join(recipes, 'cron/publish-docs.sh')], {
      env: {
        ...env,
        DOCS_DOMAIN: 'docs.example.com',
        SITE_ROOT: root,
        STATIC_EXPORT_API_BASE_URL: vendor.url,
        STATIC_EXPORT_KEY_FILE: join(folder, 'key'),
        ...more,
      },
    });
  const first = await publish();
  assert.deepEqual([first.code, first.stderr], [0, '']);
  const [, published = ''] = /^Published: (.+)\n$/.exec(first.stdout) ?? assert.fail(first.stdout);
  assert.ok(existsSync(join(published, 'index.html')));

  const port = await findFreePort();
  const conf = join(folder, 'nginx.conf');
  const server = recipe('cron/nginx.conf')
    .replace('listen 80;', `listen 127.0.0.1:${port};`)
    .replace('/srv/docs', root);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder}/${name};`)
    .join(' ');
  writeFileSync(
    conf,
    `daemon off; master_process off; pid ${folder}/pid; error_log ${folder}/error.log;
events {} http { include /etc/nginx/mime.types; access_log off; ${temporary} ${server} }`,
  );
  const child = startProgram(nginx, { args: ['-c', conf, '-p', folder, '-g', 'user root;'] });
  t.after(() => child.stop());
  const get = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`);
    return { status: response.status, text: await response.text() };
  };
  await eventually('nginx answers', () => get('/').catch(() => undefined));
  assert.deepEqual(await get('/'), { status: 200, text: 'first' });
  assert.deepEqual(await get('/a'), { status: 200, text: pages['a/index.html'] });
  assert.deepEqual(await get('/nothing'), { status: 404, text: pages['404.html'] });

  const answers = new Set<string>();
  let isOver = false;
  const visitor = (async () => {
    while (!isOver) {
      const { status, text } = await get('/');
      answers.add(`${status} ${text}`);
    }
  })();
  for (const content of ['second', 'third', 'fourth', 'fifth', 'fifth']) {
    setContent(content);
    const { code, stderr } = await publish();
    assert.deepEqual([code, stderr], [0, '']);
    assert.equal((await get('/')).text, content);
  }
  isOver = true;
  await visitor;
  assert.ok(
    [...answers].every((answer) => /^200 (first|second|third|fourth|fifth)$/.test(answer)),
    [...answers].join(),
  );
  assert.equal(readdirSync(join(root, 'releases')).length, 3);

  vendor.archive = gzipSync(tarOf({ 'index.html': 'too little' }));
  const held = await publish();
  assert.equal(held.code, 7);
  assert.match(held.stderr, /PageCountDropped/);
  assert.equal((await get('/')).text, 'fifth');
  assert.equal((await publish({ STATIC_EXPORT_MAX_SHRINK: '90' })).code, 0);
  assert.equal((await get('/')).text, 'too little');
});
