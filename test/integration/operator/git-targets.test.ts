// Git targets of real StaticExports on a real API server, with exactly the chart's permissions: commits in a real git
// repository over HTTPS, batches, refusals and what status says; and what the page about git tells a user to apply.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, test } from 'node:test';
import { parse } from 'yaml';
import { eventually } from '../../support/eventually.ts';
import type { GitRepository } from '../../support/gitops/git-repository.ts';
import { startGitServer } from '../../support/gitops/git-server.ts';
import { createAuthority } from '../../support/pki.ts';
import { declareSecret } from '../../support/secret-watch.ts';
import { startEnvironment } from './operator-environment.ts';
import { startSecondPusher } from './second-pusher.ts';

const namespace = 'git-targets';
const password = declareSecret('password', 'glpat-Hx72nQ9sVb41');
const otherPassword = declareSecret('otherPassword', 'glpat-Zm03kP8tRw55');
const values = '# ours\nreplicas: 2\nstaticExport:\n  enabled: true # for now\n  version: none\n';
/** The whole figure needs `GIT_RESOURCES=100 GIT_SECONDS=60`. */
const manyResources = Number(process.env['GIT_RESOURCES'] ?? 20);
/** Versions follow each other, beside a client that pushes every second, at least for this time. */
const pusherSeconds = Number(process.env['GIT_SECONDS'] ?? 5);

const repositories = new Map<string, GitRepository>();

function toGit(name: string, repository: GitRepository, git: object = {}, target: object = {}) {
  const own = { url: repository.url, path: `${name}.yaml`, secretRef: { name: 'fleet' }, ...git };
  return staticExport(name, { targets: [{ ...{ name: 'fleet', type: 'Git', ...target }, git: own }] });
}

const refusals: readonly (readonly [
  name: string,
  git: object,
  reason: 'Refused' | 'PushFailed',
  message: RegExp,
])[] = [
  ['absentfile', { path: 'absent.yaml' }, 'Refused', /FileNotFound: .*check the path/],
  ['wrongbranch', { branch: 'trunk' }, 'PushFailed', /BranchNotFound: /],
  ['expired', { secretRef: { name: 'expired' } }, 'PushFailed', /Unauthorized: /],
  ['nosecret', { secretRef: { name: 'absent' } }, 'PushFailed', /CredentialsMissing: .*create it/],
  ['untrusted', { secretRef: { name: 'without-ca' } }, 'PushFailed', /CertificateNotTrusted: /],
  ['elsewhere', { url: 'https://git.other.example/x.git' }, 'PushFailed', /HostNotAllowed: .*allowedHosts/],
];
const authority = await createAuthority();
const caPem = authority.certificatePem;
const server = await startGitServer({
  login: [
    { username: 'git', password },
    { username: 'tenant', password: otherPassword },
  ],
  tls: await authority.issueServer({ dns: ['localhost'], ips: ['127.0.0.1'] }),
});
const {
  world: cluster,
  vendor,
  reader,
  secret,
  staticExport,
  start,
} = await startEnvironment({ namespaces: [namespace] });
await cluster.apply(
  secret('fleet', { token: password, 'ca.crt': caPem }),
  secret('tenant', { username: 'tenant', password: otherPassword, 'ca.crt': caPem }),
  secret('expired', { token: 'glpat-expired', 'ca.crt': caPem }),
  secret('without-ca', { token: password }),
);
const operator = await start([
  `--allowed-git-hosts=127.0.0.1:${new URL(server.origin).port}`,
  '--allow-private-git-hosts',
  '--request-timeout=5s',
  '--workers=16',
]);
// At once, because each waits ten seconds for others of its repository.
const shared = await server.createRepository('shared', { 'one.yaml': values, 'two.yaml': values });
repositories.set('shared', shared);
const objects: object[] = ['one', 'two'].map((name) => staticExport(name));
for (const [name, git] of [
  ['again', {}],
  ['reviewed', { pullRequestBranch: 'static-export/docs' }],
  ...refusals,
] as const) {
  const repository = await server.createRepository(name, { [`${name}.yaml`]: values });
  repositories.set(name, repository);
  objects.push(toGit(name, repository, git));
}
await repositoryOf('reviewed').protect('main');
await cluster.apply(...objects);

function repositoryOf(name: string): GitRepository {
  const found = repositories.get(name);
  assert.ok(found);
  return found;
}

after(() => server.close());

async function statusOf(name: string) {
  return (await reader.read('sx', name)).status;
}

const held = (text: string | undefined): string => parse(text ?? '').staticExport.version;

test('two resources of one repository share one commit, and comments stay', async () => {
  const fleet = repositoryOf('shared');
  // Published before they get their target, so that both targets come within one window.
  for (const name of ['one', 'two']) await reader.awaitCondition(name, 'Ready', 'True', 'Published');
  await cluster.apply(toGit('one', fleet), toGit('two', fleet));
  await reader.awaitCondition('one', 'TargetsSynced', 'True', 'Synced', 90_000);
  await reader.awaitCondition('two', 'TargetsSynced', 'True', 'Synced', 90_000);
  const { active, targets } = await statusOf('one');
  const text = await fleet.read('one.yaml');
  assert.equal(text, values.replace('none', `"${active.version}"`));
  assert.equal(held(await fleet.read('two.yaml')), (await statusOf('two')).active.version);
  assert.deepEqual((await fleet.log()).length, 2, 'one commit of ours');
  const [body = ''] = [(await fleet.log('main', '%B')).join('\n')];
  assert.match(body, new RegExp(`${namespace}/one: ${active.version}`));
  assert.match(body, /\[skip ci\]/);
  assert.equal(targets[0].type, 'Git');
  assert.equal(targets[0].heldVersion, active.version);
  assert.match(targets[0].message, /^commit [0-9a-f]{12}$/);
});

test('a changed site is one more commit; an unchanged one is none', async () => {
  const fleet = repositoryOf('again');
  await reader.awaitCondition('again', 'TargetsSynced', 'True', 'Synced', 90_000);
  const first = (await statusOf('again')).active.version;
  await reader.request('again', 'unchanged');
  await eventually(
    'an unchanged export',
    async () => (await statusOf('again')).lastCompletedRequest === 'unchanged' || undefined,
    { timeoutMs: 120_000 },
  );
  vendor.script('again.example.com', { content: { 'index.html': '<h1>again</h1>' } });
  await reader.request('again', 'changed');
  await eventually(
    'the second version in git',
    async () => (held(await fleet.read('again.yaml')) === first ? undefined : true),
    { timeoutMs: 60_000, everyMs: 500 },
  );
  assert.equal((await fleet.log()).length, 3);
});

test('a pull-request branch is pushed, and the branch stays as it is', async () => {
  const fleet = repositoryOf('reviewed');
  await reader.awaitCondition('reviewed', 'TargetsSynced', 'Unknown', 'AwaitingMerge', 90_000);
  const { active } = await statusOf('reviewed');
  assert.equal(await fleet.read('reviewed.yaml'), values);
  assert.equal(held(await fleet.read('reviewed.yaml', 'static-export/docs')), active.version);
});

for (const [name, , reason, message] of refusals) {
  test(`${name}: ${reason} with the remedy, and nothing pushed`, async () => {
    await reader.awaitCondition(name, 'TargetsSynced', 'False', reason, 90_000);
    assert.match((await statusOf(name)).targets[0].message, message);
    assert.equal(await reader.condition(name, 'Ready').then((found) => found?.status), 'True');
    assert.equal((await repositoryOf(name).log()).length, 1);
  });
}

test('a specification with a link, a wrong URL or a wrong path is refused by the API server', async () => {
  const fleet = await server.createRepository('strict', { 'a.yaml': values });
  const wrong = [
    toGit('strict', fleet, {}, { write: ['bundleUrl'] }),
    toGit('strict', fleet, { url: 'http://git.example.com/a.git' }),
    toGit('strict', fleet, { url: 'https://user:secret@git.example.com/a.git' }),
    toGit('strict', fleet, { path: '../a.yaml' }),
    toGit('strict', fleet, { path: '/a.yaml' }),
    toGit('strict', fleet, { branch: 'a..b' }),
    toGit('strict', fleet, { pullRequestBranch: 'main' }),
    toGit('strict', fleet, { author: { name: 'A <b>', email: 'a@example.com' } }),
  ];
  for (const object of wrong) {
    await assert.rejects(cluster.apply(object), /invalid|must/i, JSON.stringify(object.spec));
  }
});

test('a git server that hangs delays no status', async () => {
  const hanging = await server.createRepository('hanging', { 'hanging.yaml': values });
  const prompt = await server.createRepository('prompt', { 'prompt.yaml': values });
  const answer = Promise.withResolvers<'cut'>();
  server.onRequest = ({ repository }) => (repository === 'hanging' ? answer.promise : 'serve');
  try {
    await cluster.apply(toGit('hanging', hanging));
    await reader.awaitCondition('hanging', 'TargetsSynced', 'Unknown', 'Pending');
    await cluster.apply(toGit('prompt', prompt));
    const found = await reader.awaitCondition('prompt', 'Ready', 'True', 'Published', 40_000);
    assert.equal(found.status, 'True');
    answer.resolve('cut');
    await reader.awaitCondition('hanging', 'TargetsSynced', 'False', 'PushFailed', 90_000);
    await reader.awaitCondition('prompt', 'TargetsSynced', 'True', 'Synced', 90_000);
  } finally {
    answer.resolve('cut');
    server.onRequest = () => 'serve';
  }
});

test(`${manyResources} resources and a client that pushes every second lose no update of each other`, {
  timeout: 600_000,
}, async (t) => {
  const names = Array.from({ length: manyResources }, (_none, index) => `many-${index}`);
  const files = Object.fromEntries(names.map((name) => [`${name}.yaml`, values]));
  const fleet = await server.createRepository('many', { ...files, 'other.yaml': 'count: 0\n' });
  const list = (): Promise<readonly ListedExport[]> => cluster.api.list('sx', namespace, 'batch=many');
  /** The version that each file holds, by one process: a poll is of all files. */
  const inGit = async (): Promise<ReadonlyMap<string, string>> => {
    const { stdout } = await fleet.git('grep', 'version:', 'main', '--', '*.yaml');
    const lines = stdout.matchAll(/^main:(\S+)\.yaml: {2}version: "?([^"\s]+)/gm);
    return new Map([...lines].map(([, name = '', version = '']) => [name, version]));
  };
  const applyAll = (spec: object): Promise<void> =>
    cluster.apply(
      ...names.map((name) => {
        const { metadata, ...object } = toGit(name, fleet);
        const labels = { batch: 'many' };
        return { ...object, metadata: { ...metadata, labels }, spec: { ...object.spec, ...spec } };
      }),
    );
  const untilEach = (
    what: string,
    isDone: (one: ListedExport, versions: ReadonlyMap<string, string>) => boolean,
  ) =>
    eventually(
      what,
      async () => {
        const [found, versions] = await Promise.all([list(), inGit()]);
        return (found.length === names.length && found.every((one) => isDone(one, versions))) || undefined;
      },
      { timeoutMs: 180_000, everyMs: 500 },
    );
  const isInGit = ({ metadata, status }: ListedExport, versions: ReadonlyMap<string, string>): boolean =>
    versions.get(metadata.name) === status?.active?.version;

  // All are published before they get their target, so that the targets come within one window.
  await applyAll({ targets: [] });
  await untilEach('each is published', ({ status }) => status?.active !== undefined);
  const withLogin = fleet.url.replace('//', `//tenant:${otherPassword}@`);
  const pusher = await startSecondPusher(withLogin, caPem);
  const startedAt = performance.now();
  await applyAll({});
  await untilEach('each target is known', ({ status }) => (status?.targets?.length ?? 0) > 0);
  const arrivedMs = performance.now() - startedAt;
  await untilEach('each version in git', isInGit);
  const firstCommits = (await ownCommits(fleet)).length;
  t.diagnostic(
    `${firstCommits} commits for ${manyResources} targets that came within ${Math.round(arrivedMs)} ms`,
  );
  // One for each window of ten seconds in which targets came: with a machine that is not busy, one.
  assert.ok(firstCommits <= 1 + Math.floor(arrivedMs / 10_000), `${firstCommits} commits`);

  let rounds = 0;
  do {
    rounds += 1;
    const known = new Map((await list()).map(({ metadata, status }) => [metadata.name, status?.active]));
    for (const name of names) {
      vendor.script(`${name}.example.com`, { content: { 'index.html': `<h1>${rounds}</h1>` } });
    }
    for (const name of names) await reader.request(name, `round-${rounds}`);
    await untilEach(
      'each next version in git',
      (one, versions) =>
        one.status?.active?.version !== known.get(one.metadata.name)?.version && isInGit(one, versions),
    );
  } while (performance.now() - startedAt < pusherSeconds * 1000);
  await pusher.stop();

  const { pushed, rejected } = pusher.counts;
  const own = await ownCommits(fleet);
  const others = (await commitsOf(fleet)).filter(({ subject }) => subject.startsWith('other'));
  t.diagnostic(
    `${own.length} commits of the operator for ${rounds + 1} versions of ${manyResources} resources, ${pushed} of the other client, which came too late ${rejected} times`,
  );
  assert.ok(pushed > rounds, `${pushed} pushes`);
  const seconds = (performance.now() - startedAt) / 1000;
  assert.ok(own.length <= 1 + seconds / 10, `${own.length} commits in ${seconds} s`);
  // Each version of each resource was written once, each push of the other client is there once and in order, and no
  // commit touches what is not its own.
  const wanted = Array.from({ length: pushed }, (_none, at) => `other ${at + 1}`);
  assert.deepEqual(
    others.map(({ subject }) => subject),
    wanted,
  );
  assert.deepEqual(new Set(others.flatMap(({ paths }) => paths)), new Set([pusher.path]));
  const written = own.flatMap(({ paths }) => paths);
  assert.equal(written.length, manyResources * (rounds + 1));
  assert.deepEqual(new Set(written), new Set(Object.keys(files)));
  assert.equal(parse((await fleet.read(pusher.path)) ?? '').count, pushed);
  assert.equal((await fleet.log()).length, 1 + own.length + pushed);
  assert.equal((await fleet.git('log', '--merges', '--format=%H', 'main')).stdout, '');
});

interface ListedExport {
  readonly metadata: { readonly name: string };
  readonly status?: {
    readonly active?: { readonly version: string };
    readonly targets?: readonly unknown[];
  };
}

interface LoggedCommit {
  readonly subject: string;
  readonly paths: readonly string[];
}

/** Oldest first, without the one that made the repository. */
async function commitsOf(repository: GitRepository): Promise<readonly LoggedCommit[]> {
  const { stdout } = await repository.git('log', '--reverse', '--name-only', '--format=%x00%s', 'main');
  return stdout
    .split('\0')
    .slice(2)
    .map((text) => {
      const [subject = '', ...paths] = text.split('\n').filter((line) => line !== '');
      return { subject, paths };
    });
}

const ownCommits = async (repository: GitRepository): Promise<readonly LoggedCommit[]> =>
  (await commitsOf(repository)).filter(({ subject }) => !subject.startsWith('other'));

test('the page about git: every YAML of it is applied, and the version arrives', async () => {
  const page = await readFile(
    new URL('../../../charts/static-export-operator/docs/git.md', import.meta.url),
    'utf8',
  );
  const blocks = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text = '']) => text);
  const [file, chartValues, ...manifests] = blocks;
  assert.ok(file !== undefined && chartValues !== undefined && manifests.length === 3);
  assert.deepEqual(parse(chartValues), { targets: { git: { allowedHosts: ['git.example.com'] } } });
  const path = 'clusters/prod/docs-values.yaml';
  const fleet = await server.createRepository('page', { [path]: file });
  // What a reader fills in, and where this test's namespace, names and addresses differ.
  const filled = manifests.map((text) =>
    text
      .replaceAll('namespace: docs', `namespace: ${namespace}`)
      .replaceAll('https://git.example.com/team/fleet.git', fleet.url)
      .replaceAll('token: REPLACE_ME', `token: ${password}\n  ca.crt: ${JSON.stringify(caPem)}`),
  );
  await cluster.kubectl(['apply', '--server-side', '-f', '-'], { input: filled.join('\n---\n') });
  await reader.awaitCondition('docs', 'TargetsSynced', 'True', 'Synced', 90_000);
  await eventually(
    'the other StaticExport is pushed for review, or finds the version',
    async () => {
      const { reason = '' } = (await reader.condition('docs-reviewed', 'TargetsSynced')) ?? {};
      return /AwaitingMerge|Synced/.test(reason) || undefined;
    },
    { timeoutMs: 120_000 },
  );
  const { active } = await statusOf('docs');
  assert.equal(await fleet.read(path), file.replace('version: ""', `version: "${active.version}"`));
  const [author, subject] = (await fleet.log('main', '%an <%ae>%n%s')).slice(0, 2);
  assert.deepEqual(
    [author, subject],
    ['Docs Bot <docs-bot@example.com>', `docs: publish docs ${active.version}`],
  );
});

test('the tasks of git are counted', async () => {
  assert.match((await operator.get('/metrics')).text, /staticexport_git_tasks_total\{outcome="pushed"\} \d/);
});
