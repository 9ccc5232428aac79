// Runs the credentials plugin of a kubeconfig user as kubectl does: with what it may know of the cluster, and with a
// person's terminal where the program has one. Refuses a plugin that needs a terminal where there is none, and an answer
// that is not a credential. Invariant: a credential is used until it expires, and is written nowhere.

import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { isatty } from 'node:tty';
import type { Cluster, KubeConfig } from '@kubernetes/client-node';
import * as z from 'zod/mini';
import { PublishableError } from '#platform/wire/publishable-error.ts';

const execShape = z.object({
  apiVersion: z._default(z.string(), 'client.authentication.k8s.io/v1'),
  command: z.string(),
  args: z.nullish(z.array(z.string())),
  env: z.nullish(z.array(z.object({ name: z.string(), value: z.string() }))),
  interactiveMode: z.nullish(z.enum(['Never', 'IfAvailable', 'Always'])),
  provideClusterInfo: z.nullish(z.boolean()),
});
type ExecPlugin = z.infer<typeof execShape>;

const credentialShape = z.object({
  status: z.object({
    token: z.nullish(z.string()),
    clientCertificateData: z.nullish(z.string()),
    clientKeyData: z.nullish(z.string()),
    expirationTimestamp: z.nullish(z.string()),
  }),
});
export type ExecCredential = z.infer<typeof credentialShape>['status'];

interface PluginContext {
  readonly cluster: Cluster | null;
  /** `undefined`: that of the process, unchanged. */
  readonly variables: Readonly<Record<string, string | undefined>> | undefined;
  /** A person reads the standard error of this program. */
  readonly isAttended: boolean;
}

const longestAnswer = 1024 * 1024;

/** The credential of the exec plugin, kept until it expires. */
export type Login = (now: number | undefined) => Promise<ExecCredential>;

/** client-node's own run of a plugin hides its prompts. So the plugin is taken out of the configuration. */
export function openLogin(config: KubeConfig, source: Omit<PluginContext, 'cluster'>): Login | undefined {
  const user = config.getCurrentUser();
  if (!user?.exec) return undefined;
  const { exec, ...plain } = user;
  config.users = config.users.map((one) => (one.name === user.name ? plain : one));
  const context = { ...source, cluster: config.getCurrentCluster() };
  let kept: { readonly credential: ExecCredential; readonly until: number } | undefined;
  return async (now = Number.POSITIVE_INFINITY) => {
    if (kept !== undefined && (now < kept.until || kept.until === Number.POSITIVE_INFINITY))
      return kept.credential;
    const credential = await runExecPlugin(execShape.parse(exec), context);
    const { expirationTimestamp } = credential;
    kept = {
      credential,
      until: expirationTimestamp ? Date.parse(expirationTimestamp) : Number.POSITIVE_INFINITY,
    };
    return credential;
  };
}

/** Starts the process before it first waits. @throws {PublishableError} `PluginFailed`; the system's error */
async function runExecPlugin(plugin: ExecPlugin, context: PluginContext): Promise<ExecCredential> {
  const { command, args, interactiveMode } = plugin;
  const isInteractive = interactiveMode !== 'Never' && context.isAttended && isatty(0);
  if (interactiveMode === 'Always' && !isInteractive) {
    throw failed('it needs a terminal on standard input, and there is none');
  }
  const env = environmentOf(plugin, isInteractive, context);
  const child = spawn(command, args ?? [], {
    stdio: [isInteractive ? 'inherit' : 'ignore', 'pipe', context.isAttended ? 'inherit' : 'ignore'],
    ...(env !== undefined && { env }),
  });
  const [answer, code] = await Promise.all([readAnswer(child), exitCodeOf(child)]);
  if (code !== 0) throw failed(code === null ? 'a signal ended it' : `its exit code is ${code}`);
  const { data } = credentialShape.safeParse(readJsonObject(answer));
  if (data === undefined) throw failed('its answer is not an ExecCredential with a status');
  return data.status;
}

const failed = (why: string): PublishableError => new PublishableError('PluginFailed', why);

function environmentOf(
  { apiVersion, env, provideClusterInfo }: ExecPlugin,
  interactive: boolean,
  { cluster, variables }: PluginContext,
): NodeJS.ProcessEnv | undefined {
  if (variables === undefined) return undefined;
  const known = provideClusterInfo === true && cluster !== null && { cluster: clusterInfo(cluster) };
  const info = { kind: 'ExecCredential', apiVersion, spec: { ...known, interactive } };
  const own = Object.fromEntries((env ?? []).map(({ name, value }) => [name, value]));
  return { ...variables, ...own, KUBERNETES_EXEC_INFO: JSON.stringify(info) };
}

function clusterInfo(cluster: Cluster): object {
  const { server, caData, caFile, skipTLSVerify, tlsServerName, proxyUrl } = cluster;
  const authority = caData ?? (caFile && readFileSync(caFile).toString('base64'));
  return {
    server,
    ...(authority && { 'certificate-authority-data': authority }),
    ...(skipTLSVerify && { 'insecure-skip-tls-verify': true }),
    ...(tlsServerName && { 'tls-server-name': tlsServerName }),
    ...(proxyUrl && { 'proxy-url': proxyUrl }),
  };
}

async function readAnswer({ stdout }: ChildProcess): Promise<string> {
  let text = '';
  try {
    for await (const chunk of stdout ?? []) {
      text += String(chunk);
      if (text.length > longestAnswer) throw failed('its answer is longer than 1 MiB');
    }
  } catch (error) {
    if (error instanceof PublishableError) throw error;
    // Its end says why.
  }
  return text;
}

function exitCodeOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.on('error', reject).on('close', resolve);
  });
}

function readJsonObject(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
