// The site's chart on a real API server: every values file is accepted, pods are admitted under the restricted
// standard, and what an upgrade changes is what the chart promises. The vendor's documented flow is run with the
// real program, on the arguments and the Secret that the release put into the cluster.

import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { basename, join } from 'node:path';
import { after, before, test } from 'node:test';
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { type ChildProgram, startProgram } from '../../support/child-program.ts';
import type { ClusterAccess, CommandResult } from '../../support/cluster.ts';
import { runCommand } from '../../support/command.ts';
import { eventually } from '../../support/eventually.ts';
import { findFreePort } from '../../support/free-port.ts';
import { mountSecret } from '../../support/mounted-secret.ts';
import { programFile } from '../../support/program-file.ts';
import { seeText } from '../../support/secret-watch.ts';
import { openSharedControlPlane } from '../../support/shared-control-plane.ts';
import { makeArchive, makeSite } from '../server/archive.ts';
import { startLinkServer } from '../server/link-server.ts';
import { driftOf, podOf, readForeignKinds, releaseShape, templateShape } from './admission.ts';

const root = join(import.meta.dirname, '../../..');
const chart = join(root, 'charts/static-export-site');
const fixtures = join(root, 'test/fixtures/charts/static-export-site');
const namespace = 'site-charts';
const full = 'docs-static-export-site';
let cluster: ClusterAccess;

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
/** @throws Error with what admission says */
const createDry = (object: { readonly metadata: object }): Promise<void> =>
  cluster.api.create({ ...object, metadata: { namespace, ...object.metadata } }, true);
const admit = (workload: unknown): Promise<void> => createDry(podOf(workload));
const read = async (object: string, path: string): Promise<string> =>
  must(kubectl(['get', object, `--output=jsonpath={${path}}`]));

before(async () => {
  cluster = await openSharedControlPlane();
  const labels = {
    'pod-security.kubernetes.io/enforce': 'restricted',
    'pod-security.kubernetes.io/warn': 'restricted',
  };
  const kinds = await readForeignKinds();
  await cluster.api.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels } });
  await cluster.api.apply(kinds);
  await cluster.awaitDefinitions();
});
after(() => cluster.stop());

test('every values file installs as it is, and its pods are admitted under the restricted standard', async (t) => {
  for (const file of await readdir(fixtures)) {
    await t.test(basename(file, '.yaml'), async () => {
      const values = ['--values', join(fixtures, file)];
      const { code, stdout, stderr } = await helm(['install', 'docs', chart, '--output=json', ...values]);
      assert.equal(code, 0, stderr);
      const { manifest, hooks } = releaseShape.parse(JSON.parse(stdout));
      assert.doesNotMatch(stdout + stderr, /would violate PodSecurity|unknown field/);
      const workloads = parseAllDocuments(manifest)
        .map((document) => document.toJSON())
        .filter((json) => templateShape.safeParse(json).success);
      assert.equal(workloads.length, 1);
      await admit(workloads[0]);
      for (const job of parseAllDocuments(manifest).map((document) => document.toJSON())) {
        if (job?.kind === 'CronJob') await admit({ spec: job.spec.jobTemplate.spec });
      }
      assert.equal(hooks.length, 1);
      for (const hook of hooks) await createDry(parse(hook.manifest));
      await must(cluster.helm(['uninstall', 'docs', `--namespace=${namespace}`]));
    });
  }
});

test("on a cluster with the monitors' kinds they are created, and stay as rendered", async () => {
  const values = {
    ...{ fullnameOverride: 'm', staticExport: { existingSecret: 'docs-bundle' } },
    httpRoute: { enabled: true, parentRefs: [{ name: 'gateway', namespace: 'infra' }] },
  };
  await must(helm(['install', 'monitored', chart], values));
  const found = await must(kubectl(['get', 'servicemonitors,prometheusrules', '--output=name']));
  assert.match(found, /servicemonitor\S*\/m\n/);
  assert.match(found, /prometheusrule\S*\/m\n/);
  const manifest = await must(cluster.helm(['get', 'manifest', 'monitored', `--namespace=${namespace}`]));
  for (const kind of ['HTTPRoute', 'ServiceMonitor', 'PrometheusRule']) {
    const stored = await must(kubectl(['get', `${kind}/m`, '--output=yaml']));
    assert.deepEqual(driftOf(kind, manifest, stored), undefined, kind);
  }
  await must(cluster.helm(['uninstall', 'monitored', `--namespace=${namespace}`]));
});

test('this check rejects a pod that the restricted standard rejects', async () => {
  const values = {
    staticExport: { existingSecret: 'docs-bundle' },
    podSecurityContext: { runAsNonRoot: false },
  };
  await must(helm(['install', 'lax', chart], values));
  const lax = await cluster.api.read('deployment', 'lax-static-export-site', namespace);
  await assert.rejects(admit(lax), /violates PodSecurity "restricted/);
  await must(cluster.helm(['uninstall', 'lax', `--namespace=${namespace}`]));
});

test('the sidecar example is accepted, and its pods are admitted', async () => {
  const { code, stdout, stderr } = await cluster.kubectl([
    ...[`--namespace=${namespace}`, 'apply', '--dry-run=server', '--output=yaml'],
    `--filename=${chart}/examples/sidecar.yaml`,
  ]);
  assert.equal(code, 0, stderr);
  assert.doesNotMatch(stderr, /would violate PodSecurity/);
  const workload: { spec: { template: { spec: object } } } = parse(stdout);
  Object.assign(workload.spec.template.spec, { serviceAccountName: 'sidecar' });
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'sidecar' } };
  await must(kubectl(['apply', '-f', '-'], account));
  await admit(workload);
});

test("an invalid StaticExport fails the installation with the CRD's message", async () => {
  const key = { keySecretRef: { name: 'export-api' } };
  const values = { export: { create: true, domain: 'd.example', api: key, schedule: 'daily' } };
  const { code, stderr } = await helm(['install', 'refused', chart], values);
  assert.notEqual(code, 0);
  assert.match(stderr, /schedule must be a cron expression of five fields/);
});

/** `--flag=value` of the container, with the cluster's paths and ports replaced by this machine's. */
function localise(args: readonly string[], folder: string, site: number, admin: number): readonly string[] {
  return args
    .slice(1)
    .map((flag) =>
      flag
        .replace('/etc/static-export/', `${folder}/mounted/`)
        .replace('/var/lib/static-export', `${folder}/store`)
        .replace('=:8080', `=:${site}`)
        .replace('=:9090', `=:${admin}`),
    );
}

const hookShape = z.object({
  spec: z.object({
    containers: z.tuple([z.object({ command: z.array(z.string()), args: z.array(z.string()) })]),
  }),
});

test("the vendor's documented flow: three values, a served site, and upgrades that restart no pod", async () => {
  const links = await startLinkServer();
  links.put('one', await makeArchive(makeSite('v1')));
  links.put('two', await makeArchive(makeSite('v2')));
  const server = { allowPrivateLinks: true, pollInterval: '100ms', drain: { lingerSeconds: 0 } };
  const install = (archive: string, name: string, version: string): Promise<string> => {
    const staticExport = { enabled: true, bundleUrl: links.link(archive, name), version };
    return must(helm(['upgrade', '--install', 'docs', chart], { server, staticExport }));
  };
  const generation = (): Promise<string> => read(`deployment/${full}`, '.metadata.generation');
  let program: ChildProgram | undefined;
  const mounted = join(cluster.folder, 'mounted');
  const [site, admin] = [await findFreePort(), await findFreePort()];
  const notes = await install('one', 'first', 'v1');
  const secret = { namespace, name: `${full}-link`, key: 'bundle.json' };
  const mount = await mountSecret(cluster.watch, secret, mounted);
  try {
    seeText('the notes of the release', notes);
    const args: string[] = JSON.parse(
      await read(`deployment/${full}`, '.spec.template.spec.containers[0].args'),
    );
    const output: string[] = [];
    program = startProgram(process.execPath, {
      args: [programFile('bundle-server'), ...localise(args, cluster.folder, site, admin)],
      onLine: (line) => output.push(line),
    });
    // What `helm test` runs in its pod, with the Services' addresses replaced by the program's own.
    const hook = hookShape.parse(
      parse(await must(cluster.helm(['get', 'hooks', 'docs', `--namespace=${namespace}`]))),
    );
    const [{ command, args: script }] = hook.spec.containers;
    const checkSite = (address = '127.0.0.1'): Promise<CommandResult> =>
      runCommand([process.execPath, ...command.slice(1), ...script], {
        env: {
          ...{
            SITE_ADDRESS: address,
            SITE_PORT: `${site}`,
            ADMIN_ADDRESS: address,
            ADMIN_PORT: `${admin}`,
          },
          ...{ BASE_PATH: '/', TIMEOUT_SECONDS: '60' },
        },
      });
    assert.match(
      await must(checkSite()),
      /serving version v1, digest [0-9a-f]{64}, 33 files\nhome page: 200.*\n.*304\n/,
    );
    const hasIpv6 = Object.values(networkInterfaces()).some((all = []) =>
      all.some(({ address }) => address === '::1'),
    );
    if (hasIpv6) assert.match(await must(checkSite('::1')), /serving version v1/);
    assert.equal(await generation(), '1');

    const downloads = links.requests();
    for (const name of ['second', 'third']) {
      const writes = mount.writes();
      await install('one', name, 'v1');
      await eventually('the new link is mounted', () => mount.writes() > writes || undefined);
    }
    await install('two', 'fourth', 'v2');
    await eventually('the new version is served', async () => {
      const home = await (await fetch(`http://127.0.0.1:${site}/`)).text();
      return home.includes('version v2') || undefined;
    });
    assert.match(await must(checkSite()), /serving version v2/);
    assert.equal(links.requests() - downloads, 1, 'fresh links for the same version cost no download');
    assert.equal(await generation(), '1', 'neither links nor versions touched the Deployment');

    links.misbehave((response) => response.writeHead(403).end());
    await install('one', 'dead', 'v1');
    assert.match(await must(checkSite()), /serving version/);
  } finally {
    await program?.stop();
    await mount.stop();
    await links.close();
  }
  const failing = await runCommand([process.execPath, join(chart, 'files/check-site.mjs')], {
    env: {
      SITE_NAME: '127.0.0.1',
      SITE_PORT: `${site}`,
      ADMIN_NAME: '127.0.0.1',
      ADMIN_PORT: `${admin}`,
      BASE_PATH: '/',
      TIMEOUT_SECONDS: '1',
    },
  });
  assert.notEqual(failing.code, 0, 'a site that is gone fails the test');
  assert.match(failing.stderr, /no bundle was served within 1 s: ECONNREFUSED/);
});

test('with Restart a version restarts the pods, and a link does not', async () => {
  const bundleUrl = 'https://storage.example.com/7.tar.gz?sig=';
  const upgrade = async (staticExport: object): Promise<string> => {
    await must(helm(['upgrade', '--install', 'rolled', chart], { rollout: 'Restart', staticExport }));
    return read('deployment/rolled-static-export-site', '.metadata.generation');
  };
  assert.equal(await upgrade({ bundleUrl: `${bundleUrl}1`, version: 'v1' }), '1');
  assert.equal(await upgrade({ bundleUrl: `${bundleUrl}2`, version: 'v1' }), '1');
  assert.equal(await upgrade({ bundleUrl: `${bundleUrl}2`, version: 'v2' }), '2');
});

test("a new link from a file, by the README's command, keeps every other value and restarts no pod", async () => {
  const readme = await readFile(join(chart, 'README.md'), 'utf8');
  const [, flags] = /helm upgrade docs \S+ (--reset-then-reuse-values) \\\n {2}--set-file/.exec(readme) ?? [];
  assert.ok(flags !== undefined, 'the README has the command');
  const staticExport = { bundleUrl: 'https://storage.example.com/7.tar.gz?sig=1', version: 'v1' };
  await must(helm(['install', 'renewed', chart], { staticExport, server: { replicas: 3 } }));
  const file = join(cluster.folder, 'link.txt');
  await writeFile(file, 'https://storage.example.com/7.tar.gz?sig=2,3\n');
  const upgrade = ['upgrade', 'renewed', chart, flags, `--set-file=staticExport.bundleUrl=${file}`];
  await must(cluster.helm([...upgrade, `--namespace=${namespace}`]));
  const document = await read('secret/renewed-static-export-site-link', '.data.bundle\\.json');
  assert.deepEqual(JSON.parse(Buffer.from(document, 'base64').toString()), {
    bundleUrl: 'https://storage.example.com/7.tar.gz?sig=2,3',
    version: 'v1',
  });
  assert.equal(await read('deployment/renewed-static-export-site', '.spec.replicas'), '3');
  assert.equal(await read('deployment/renewed-static-export-site', '.metadata.generation'), '1');
});

test('a new version of the chart alone restarts no pod, with an emptyDir and with volumes', async () => {
  const folder = join(cluster.folder, 'packages');
  await must(cluster.helm(['package', chart, '--version=9.9.9', `--destination=${folder}`]));
  const newer = join(folder, 'static-export-site-9.9.9.tgz');
  for (const [kind, enabled] of [
    ['deployment', false],
    ['statefulset', true],
  ] as const) {
    const values = { staticExport: { existingSecret: 'docs-bundle' }, persistence: { enabled } };
    await must(helm(['install', kind, chart], values));
    await must(helm(['upgrade', kind, newer], values));
    const object = `${kind}/${kind}-static-export-site`;
    assert.equal(await read(object, '.metadata.labels.helm\\.sh/chart'), 'static-export-site-9.9.9');
    assert.equal(await read(object, '.metadata.generation'), '1');
  }
});

test('another size of existing volumes is rejected with a remedy; the same size in other units is accepted', async () => {
  const values = (size: string): object => ({
    staticExport: { existingSecret: 'docs-bundle' },
    persistence: { enabled: true, size },
  });
  await must(helm(['install', 'sized', chart], values('5120Mi')));
  await must(helm(['upgrade', 'sized', chart], values('5Gi')));
  const { code, stderr } = await helm(['upgrade', 'sized', chart], values('6Gi'));
  assert.notEqual(code, 0);
  assert.match(
    stderr,
    /made with 5Gi, and these values ask for 6Gi.*delete statefulset sized-static-export-site --cascade=orphan/,
  );
});
