// Argo CD's real application controller and repo server with their redis, on loopback against a test's control plane, as
// its administrator. They end with the test program. There is no API server and no UI of Argo CD.
//
//   const argo = await startArgoCd(controlPlane, { config: { 'resource.customizations.…': '…' } });
//   await argo.apply(application);                     // namespace argocd; destination https://kubernetes.default.svc
//   await argo.awaitApplication('site', 'synced', (site) => site.status?.sync?.status === 'Synced' || undefined);
//   …
//   await argo.stop();

import assert from 'node:assert/strict';
import { mkdir, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { type ChildProgram, startProgram } from '../child-program.ts';
import type { TestCluster } from '../cluster.ts';
import { findClusterTools } from '../cluster-tools.ts';
import { eventually } from '../eventually.ts';
import { findFreePort } from '../free-port.ts';
import { applyDefinitions } from './definitions.ts';
import { findGitOpsProgram } from './programs.ts';

const namespace = 'argocd';

const healthSchema = z.object({ status: z.string().optional(), message: z.string().optional() });

const applicationSchema = z.object({
  metadata: z.object({ name: z.string(), generation: z.number(), resourceVersion: z.string() }),
  spec: z.record(z.string(), z.unknown()),
  status: z
    .object({
      health: healthSchema.optional(),
      sync: z.object({ status: z.string(), revision: z.string().optional() }).loose().optional(),
      resources: z
        .array(
          z
            .object({
              kind: z.string(),
              name: z.string(),
              status: z.string().optional(),
              health: healthSchema.optional(),
            })
            .loose(),
        )
        .optional(),
      reconciledAt: z.string().optional(),
    })
    .loose()
    .optional(),
});

/** What tests read of an Application; everything else of its status is there too, unparsed. */
export type ReadApplication = z.output<typeof applicationSchema>;

export interface ArgoCdOptions {
  /** `data` of `argocd-cm`, such as a health check. */
  readonly config?: Readonly<Record<string, string>>;
  /** How often every Application is compared with git. 120 when absent. */
  readonly resyncSeconds?: number;
}

export interface ArgoCd {
  /** Server-side, as the administrator. */
  apply(...objects: readonly object[]): Promise<void>;
  /** Sets `data` of `argocd-cm`, which Argo CD reads again within about 10 s. */
  configure(data: Readonly<Record<string, string>>): Promise<void>;
  /** Where repositories need a login: what `argocd repo add` writes. */
  addRepository(url: string, login: { readonly username: string; readonly password: string }): Promise<void>;
  application(name: string): Promise<ReadApplication>;
  /** Compares with git at once; `hard` renders again too. */
  refresh(name: string, kind?: 'normal' | 'hard'): Promise<void>;
  /** Polls until `look` returns a value, and returns it. */
  awaitApplication<T>(
    name: string,
    what: string,
    look: (application: ReadApplication) => T | undefined,
    timeoutMs?: number,
  ): Promise<T>;
  /** Process ids, for a test that measures memory. */
  readonly pids: Readonly<Record<'redis' | 'repo-server' | 'controller', number>>;
  stop(): Promise<void>;
}

/** Applies the definitions of Argo CD, its configuration and the project `default`. Resolves when both programs are ready. */
export async function startArgoCd(
  controlPlane: Pick<TestCluster, 'kubeconfig' | 'kubectl' | 'folder' | 'awaitDefinitions'>,
  options: ArgoCdOptions = {},
): Promise<ArgoCd> {
  const program = await findGitOpsProgram('argocd');
  const kubectl = async (args: readonly string[], input = ''): Promise<string> => {
    const { code, stdout, stderr } = await controlPlane.kubectl(args, { input });
    assert.equal(code, 0, stderr);
    return stdout;
  };
  const apply = async (...objects: readonly object[]): Promise<void> => {
    const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects });
    await kubectl(['apply', '--server-side', '--force-conflicts', '-f', '-'], input);
  };
  const configure = (data: Readonly<Record<string, string>>): Promise<void> =>
    apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: partOfArgoCd('argocd-cm'), data });
  const application = async (name: string): Promise<ReadApplication> =>
    applicationSchema.parse(
      JSON.parse(await kubectl(['get', 'applications.argoproj.io', name, '-n', namespace, '-o', 'json'])),
    );

  await applyDefinitions(controlPlane, 'argocd');
  await apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }, defaultSecret);
  await configure(options.config ?? {});
  await apply(defaultProject);
  const started = await startPrograms(program, controlPlane, options);
  return {
    apply,
    configure,
    application,
    addRepository: (url, { username, password }) =>
      apply({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: {
          name: `repository-${url.replace(/[^a-z0-9]+/g, '-').slice(-40)}`,
          namespace,
          labels: { 'argocd.argoproj.io/secret-type': 'repository' },
        },
        stringData: { type: 'git', url, username, password },
      }),
    refresh: async (name, kind = 'normal') => {
      const annotation = `argocd.argoproj.io/refresh=${kind}`;
      await kubectl([
        'annotate',
        '--overwrite',
        'applications.argoproj.io',
        name,
        '-n',
        namespace,
        annotation,
      ]);
    },
    awaitApplication: (name, what, look, timeoutMs = 180_000) =>
      eventually(
        `Application ${name}: ${what}`,
        async () => {
          const read = await application(name);
          const found = look(read);
          if (found === undefined) throw new Error(JSON.stringify(read.status));
          return found;
        },
        { timeoutMs, everyMs: 250 },
      ),
    pids: {
      redis: started.redis.pid,
      'repo-server': started.repoServer.pid,
      controller: started.controller.pid,
    },
    stop: async () => {
      await started.controller.stop();
      await started.repoServer.stop();
      await started.redis.stop();
    },
  };
}

function partOfArgoCd(name: string): object {
  return { name, namespace, labels: { 'app.kubernetes.io/part-of': 'argocd' } };
}

const defaultSecret = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: partOfArgoCd('argocd-secret'),
  stringData: { 'server.secretkey': 'only-for-a-test' },
};

const defaultProject = {
  apiVersion: 'argoproj.io/v1alpha1',
  kind: 'AppProject',
  metadata: { name: 'default', namespace },
  spec: {
    sourceRepos: ['*'],
    destinations: [{ namespace: '*', server: '*' }],
    clusterResourceWhitelist: [{ group: '*', kind: '*' }],
  },
};

interface Programs {
  readonly redis: ChildProgram;
  readonly repoServer: ChildProgram;
  readonly controller: ChildProgram;
}

async function startPrograms(
  program: string,
  controlPlane: Pick<TestCluster, 'kubeconfig' | 'folder'>,
  { resyncSeconds = 120 }: ArgoCdOptions,
): Promise<Programs> {
  const folder = join(controlPlane.folder, 'argocd');
  for (const name of ['tmp', 'tls', 'ssh', 'gpg', 'home', 'bin', 'redis'])
    await mkdir(join(folder, name), { recursive: true });
  // git calls this one for a password, and the program finds out by its variable that it is asked for one.
  await symlink(program, join(folder, 'bin/argocd'));
  const { helm } = await findClusterTools();
  const [redis, repo, repoMetrics, metrics] = await Promise.all(
    Array.from({ length: 4 }, () => findFreePort()),
  );
  const env = {
    PATH: `${join(folder, 'bin')}:${dirname(helm)}:${process.env['PATH'] ?? ''}`,
    HOME: join(folder, 'home'),
    TMPDIR: join(folder, 'tmp'),
  };
  const start = (file: string, name: string, args: readonly string[], more: Record<string, string> = {}) =>
    startProgram(file, { args, env: { ...env, ...more }, logFile: join(folder, `${name}.log`) });
  const programs: Programs = {
    redis: start('redis-server', 'redis', [
      ...['--port', String(redis), '--bind', '127.0.0.1', '--dir', join(folder, 'redis')],
      ...['--save', '', '--appendonly', 'no'],
    ]),
    repoServer: start(
      program,
      'repo-server',
      [
        '--address=127.0.0.1',
        `--port=${repo}`,
        '--metrics-address=127.0.0.1',
        `--metrics-port=${repoMetrics}`,
        `--redis=127.0.0.1:${redis}`,
        '--disable-tls',
        '--loglevel=debug',
      ],
      {
        ARGOCD_BINARY_NAME: 'argocd-repo-server',
        ARGOCD_GPG_ENABLED: 'false',
        ARGOCD_TLS_DATA_PATH: join(folder, 'tls'),
        ARGOCD_SSH_DATA_PATH: join(folder, 'ssh'),
      },
    ),
    controller: start(
      program,
      'controller',
      [
        `--kubeconfig=${controlPlane.kubeconfig}`,
        `--namespace=${namespace}`,
        `--redis=127.0.0.1:${redis}`,
        `--repo-server=127.0.0.1:${repo}`,
        '--repo-server-plaintext',
        `--metrics-port=${metrics}`,
        `--app-resync=${resyncSeconds}`,
        '--app-resync-jitter=0',
        // Its back-off would otherwise grow to minutes, and hide how often an owner reverts a value.
        '--self-heal-backoff-timeout-seconds=1',
        '--self-heal-backoff-cap-seconds=1',
        '--loglevel=debug',
      ],
      {
        ARGOCD_BINARY_NAME: 'argocd-application-controller',
        ARGOCD_FAKE_IN_CLUSTER: 'true',
        // The destination https://kubernetes.default.svc is read from here, and not with the flag's.
        KUBECONFIG: controlPlane.kubeconfig,
      },
    ),
  };
  await awaitHealth('the repo server of Argo CD', programs.repoServer, repoMetrics);
  await awaitHealth('the application controller of Argo CD', programs.controller, metrics);
  return programs;
}

async function awaitHealth(what: string, child: ChildProgram, port: number | undefined): Promise<void> {
  await eventually(
    `${what}, ready`,
    async () => child.hasExited() || (await fetch(`http://127.0.0.1:${port}/healthz`)).ok || undefined,
    { timeoutMs: 180_000 },
  );
  assert.equal(child.hasExited(), false, child.tail());
}
