// The operator's chart on a real API server: every values file is accepted and its pods are admitted under the
// restricted standard; an upgrade brings the CRD along and an uninstallation leaves it; what `helm test` runs in its
// pod sees the real operator at work, with the rights that the release gave to both.

import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { after, before, test } from 'node:test';
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { type ChildProgram, startProgram } from '../../support/child-program.ts';
import { type CommandResult, startControlPlane, type TestCluster } from '../../support/cluster.ts';
import { runCommand } from '../../support/command.ts';
import { eventually } from '../../support/eventually.ts';
import { findFreePort } from '../../support/free-port.ts';
import { programFile } from '../../support/program-file.ts';
import { words } from '../../support/words.ts';
import { driftOf, podOf, readForeignKinds, releaseShape, templateShape } from './admission.ts';

const root = join(import.meta.dirname, '../../..');
const chart = join(root, 'charts/static-export-operator');
const fixtures = join(root, 'test/fixtures/charts/static-export-operator');
const namespace = 'ops';
const full = 'ops-static-export-operator';
const crd = 'crd/staticexports.staticexport.dev';
const api = { apiBaseUrl: 'https://export.example.com' };
let cluster: TestCluster;

/** Fails the test when the command does. */
async function must(result: Promise<CommandResult>): Promise<string> {
  const { code, stdout, stderr } = await result;
  assert.equal(code, 0, stderr);
  return stdout;
}

const kubectl = (args: readonly string[], input?: object): Promise<CommandResult> =>
  cluster.kubectl([`--namespace=${namespace}`, ...args], input && { input: JSON.stringify(input) });
const helm = (args: readonly string[], values: object = {}): Promise<CommandResult> =>
  cluster.helm([...args, `--namespace=${namespace}`, '--values=-'], { input: JSON.stringify(values) });
const uninstall = (): Promise<string> => must(cluster.helm(['uninstall', 'ops', `--namespace=${namespace}`]));
const inspect = (what: 'manifest' | 'hooks'): Promise<string> =>
  must(cluster.helm(['get', what, 'ops', `--namespace=${namespace}`]));
/** @throws Error with what admission says */
const createDry = (object: { readonly metadata: object }): Promise<void> =>
  cluster.api.create({ ...object, metadata: { namespace, ...object.metadata } }, true);
const read = async (object: string, path: string): Promise<string> =>
  must(kubectl(['get', object, `--output=jsonpath={${path}}`]));
const staticExport = {
  apiVersion: 'staticexport.dev/v1alpha1',
  kind: 'StaticExport',
  metadata: { name: 'docs', namespace },
  spec: { domain: 'docs.example.com', api: { keySecretRef: { name: 'none' } } },
};

before(async () => {
  cluster = await startControlPlane();
  const labels = {
    'pod-security.kubernetes.io/enforce': 'restricted',
    'pod-security.kubernetes.io/warn': 'restricted',
  };
  const items = [
    ...[namespace, 'docs', 'team-b', 'apps'].map((name) => ({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name, labels },
    })),
    // A controller would make it.
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace } },
    ...(await readForeignKinds()),
  ];
  await must(kubectl(['apply', '--server-side', '-f', '-'], { apiVersion: 'v1', kind: 'List', items }));
  await cluster.awaitDefinitions();
});
after(() => cluster.stop());

test('every values file installs as it is, and its pods are admitted under the restricted standard', async (t) => {
  for (const file of await readdir(fixtures)) {
    await t.test(basename(file, '.yaml'), async () => {
      const { code, stdout, stderr } = await helm([
        ...['install', 'ops', chart, '--output=json'],
        ...['--values', join(fixtures, file)],
      ]);
      assert.equal(code, 0, stderr);
      assert.doesNotMatch(stdout + stderr, /would violate PodSecurity|unknown field/);
      const release = releaseShape.parse(JSON.parse(stdout));
      const workloads = parseAllDocuments(release.manifest)
        .map((document) => document.toJSON())
        .filter((json) => templateShape.safeParse(json).success);
      assert.ok(workloads.length >= 1);
      for (const workload of workloads) {
        await createDry(podOf(workload));
      }
      for (const hook of release.hooks) {
        const object = parse(hook.manifest);
        // The account of the test exists only while a test runs.
        if (object.kind === 'Pod') Object.assign(object.spec, { serviceAccountName: 'default' });
        await createDry(object);
      }
      if (file === 'everything.yaml') await stayAsRendered();
      await uninstall();
    });
  }
});

/** Nothing that a tool which compares would want to undo. */
async function stayAsRendered(): Promise<void> {
  const manifest = await inspect('manifest');
  for (const kind of ['ServiceMonitor', 'PrometheusRule']) {
    const stored = await must(kubectl(['get', `${kind}/exporter`, '--output=yaml']));
    assert.equal(driftOf(kind, manifest, stored), undefined, kind);
  }
}

test('an upgrade updates the CRD, and an uninstallation keeps it with every StaticExport', async () => {
  const older = join(cluster.folder, 'older');
  const crdFile = join(older, 'files/staticexports.staticexport.dev.yaml');
  await must(runCommand(['cp', '-r', chart, older]));
  const generated = await readFile(crdFile, 'utf8');
  await writeFile(crdFile, generated.replace('        - name: Reason\n', '        - name: Formerly\n'));
  await must(helm(['install', 'ops', older], api));
  const columns = '.spec.versions[0].additionalPrinterColumns[*].name';
  assert.match(await read(crd, columns), /Formerly/);
  const uid = await read(crd, '.metadata.uid');
  await must(kubectl(['apply', '--server-side', '-f', '-'], staticExport));

  await must(helm(['upgrade', 'ops', chart], api));
  assert.match(await read(crd, columns), /Ready Reason/);
  assert.equal(await read(crd, '.metadata.uid'), uid);
  assert.equal(await read(`deployment/${full}`, '.metadata.generation'), '1', 'no pod is replaced');
  await uninstall();
  assert.equal(await read(crd, '.metadata.uid'), uid);
  assert.equal(await read('staticexport/docs', '.spec.domain'), 'docs.example.com');
  await must(helm(['install', 'ops', chart], api));
  assert.equal(await read(crd, '.metadata.uid'), uid);
  await must(kubectl(['delete', 'staticexport/docs']));
  await uninstall();
});

test('view permits reads, edit permits writes too, and neither permits writes of status', async () => {
  await must(helm(['install', 'ops', chart], api));
  const may = async (verb: string, role: string): Promise<string> => {
    const asked = ['auth', 'can-i', verb, 'staticexports.staticexport.dev', `--as=${role}`];
    return (await kubectl(asked)).stdout.trim();
  };
  for (const role of ['view', 'edit'] as const) {
    // Aggregation is a controller's work; here the roles are bound as they are.
    const args = ['create', 'rolebinding', role, `--clusterrole=${full}-${role}`, `--user=${role}`];
    await must(kubectl(args));
  }
  assert.deepEqual(
    [await may('list', 'view'), await may('create', 'view'), await may('delete', 'edit')],
    ['yes', 'no', 'yes'],
  );
  const asked = words('auth can-i patch staticexports.staticexport.dev --subresource=status --as=edit');
  assert.equal((await kubectl(asked)).stdout.trim(), 'no');
  await must(kubectl(['delete', 'rolebindings', 'view', 'edit']));
  await uninstall();
});

const podShape = z.object({
  spec: z.object({
    containers: z.tuple([
      z.object({
        command: z.array(z.string()),
        args: z.array(z.string()),
        env: z.array(z.object({ name: z.string(), value: z.string() })),
      }),
    ]),
  }),
});

/** What `helm test` runs in its pod, as the account of the test, with addresses replaced by this machine's. */
async function runCheck(adminPort: number, seconds: number): Promise<CommandResult> {
  const hooks = parseAllDocuments(await inspect('hooks')).map((document) => document.toJSON());
  for (const hook of hooks.filter(({ kind }) => kind !== 'Pod')) {
    await must(cluster.kubectl(['apply', '--server-side', '-f', '-'], { input: JSON.stringify(hook) }));
  }
  const [{ command, args, env }] = podShape.parse(hooks.find(({ kind }) => kind === 'Pod')).spec.containers;
  const token = await must(kubectl(['create', 'token', `${full}-test`]));
  const [tokenFile, caFile] = [join(cluster.folder, 'token'), join(cluster.folder, 'ca-of-server.pem')];
  await Promise.all([writeFile(tokenFile, token), writeFile(caFile, cluster.caPem)]);
  const { hostname, port } = new URL(cluster.server);
  return runCommand([process.execPath, ...command.slice(1), ...args], {
    env: {
      ...Object.fromEntries(env.map(({ name, value }) => [name, value])),
      ...{ NODE_EXTRA_CA_CERTS: caFile, TOKEN_FILE: tokenFile },
      ...{ KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port },
      ...{ ADMIN_ADDRESS: '127.0.0.1', ADMIN_PORT: `${adminPort}`, TIMEOUT_SECONDS: `${seconds}` },
    },
  });
}

test('helm test succeeds with a working operator, and fails without one', async () => {
  await must(helm(['install', 'ops', chart], { ...api, watchNamespaces: ['docs'], instance: 'blue' }));
  const [port, deadPort] = [await findFreePort(), await findFreePort()];
  const failing = await runCheck(deadPort, 1);
  assert.notEqual(failing.code, 0);
  assert.match(failing.stderr, /an operator that is ready within 1 s was not to be had: ECONNREFUSED/);

  const token = (await must(kubectl(['create', 'token', full]))).trim();
  const kubeconfig = await cluster.writeKubeconfig('operator', token);
  const flags = z
    .array(z.string())
    .parse(parse(await read(`deployment/${full}`, '.spec.template.spec.containers[0].args')));
  const own = flags.slice(1).map((flag) => flag.replace(/^(--admin-listen)=.*/, `$1=127.0.0.1:${port}`));
  const operator: ChildProgram = startProgram(process.execPath, {
    args: [programFile('operator'), `--kubeconfig=${kubeconfig}`, ...own],
    onLine: () => undefined,
  });
  try {
    const stdout = await must(runCheck(port, 120));
    assert.match(
      stdout,
      /^the operator is ready\nthe API server refuses a bad StaticExport\nthe leader took up a StaticExport: Ready=False, KeyMissing\n$/,
    );
    assert.equal(
      await must(cluster.kubectl(['get', 'staticexports', '--all-namespaces', '--output=name'])),
      '',
    );
    const readMetrics = async (): Promise<string> => (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    await eventually('the resource of the test leaves the metrics', async () =>
      (await readMetrics()).includes(`name="${full}-test"`) ? undefined : true,
    );
    assert.match(await readMetrics(), /^leader_election_master_status\{name="staticexport"\} 1$/m);
  } finally {
    await operator.stop();
  }
  await uninstall();
  // Its owner is the operator, not Helm.
  const guide = await readFile(join(chart, 'docs/upgrade.md'), 'utf8');
  const [, command = ''] = /^kubectl (delete lease \S+) --namespace/m.exec(guide) ?? [];
  assert.equal(
    await must(kubectl(command.replace(/\S+$/, full).split(' '))),
    `lease.coordination.k8s.io "${full}" deleted from ${namespace} namespace\n`,
  );
});
