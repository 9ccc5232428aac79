// What sinks of conversations need from outside: a bucket with its credentials, and the connection and secret of a webhook.
// Refuses: opening anything that the destination does not need.

import { CliError } from '#cli/cli-error.ts';
import type { CliContext } from '#cli/context.ts';
import { readAccessKey, readMirrorSecret } from '#mirror/mirror-secret.ts';
import { readAmbientIdentity } from '#mirror/s3/ambient-identity.ts';
import type { S3Credentials } from '#mirror/s3/bucket.ts';
import { openBucket } from '#mirror/s3/open-bucket.ts';
import { requireProxySettings } from '#platform/http/proxy-settings.ts';
import { RenewedAgent } from '#platform/http/renewed-agent.ts';
import { readBounded } from '#platform/runtime/bounded-file.ts';
import { userAgent } from '#platform/runtime/version.ts';
import { publishableCode } from '#platform/wire/publishable-error.ts';
import { readWebhookSecret } from '#platform/wire/webhook-signature.ts';
import type { SinkDependencies } from '../sinks/open-sink.ts';

export interface DestinationValues {
  readonly s3Credentials: string | undefined;
  readonly s3Endpoint: string | undefined;
  readonly s3Region: string;
  readonly s3PathStyle: boolean;
  readonly webhookSecretFile: string | undefined;
  readonly requestTimeout: number;
}

export interface DestinationPorts extends Pick<SinkDependencies, 'openBucket' | 'openWebhook'> {
  close(): Promise<void>;
}

/** @param extraCaPem CA certificates that the user trusts in addition */
export function destinationPorts(
  values: DestinationValues,
  extraCaPem: string | undefined,
  { clock, env }: Pick<CliContext, 'clock' | 'env'>,
): DestinationPorts {
  const proxy = requireProxySettings(env);
  const agents: RenewedAgent[] = [];
  return {
    openBucket: async (bucket) => {
      return await openBucket(
        {
          bucket,
          region: values.s3Region,
          endpoint: values.s3Endpoint,
          pathStyle: values.s3PathStyle,
          credentials: await readCredentials(values.s3Credentials, env),
          // The user names the service.
          isHttpAllowed: values.s3Endpoint?.startsWith('http://') === true,
          allowPrivateAddresses: true,
          extraCaPem,
          proxy,
        },
        clock,
      );
    },
    openWebhook: async () => {
      const secret = await readSecret(values.webhookSecretFile);
      const timeoutMs = values.requestTimeout;
      const agent = new RenewedAgent(
        { proxy, idleTimeoutMs: timeoutMs, connections: 1, allowPrivateAddresses: true },
        extraCaPem,
      );
      agents.push(agent);
      return { secret, agent, userAgent, timeoutMs, clock };
    },
    close: async () => {
      for (const agent of agents) await agent.destroy();
    },
  };
}

async function readCredentials(folder: string | undefined, env: CliContext['env']): Promise<S3Credentials> {
  if (folder !== undefined) return readKeyFolder(folder);
  const ambient = readAmbientIdentity(env);
  if (ambient !== undefined) return ambient;
  const message =
    'there are no credentials for the bucket; name a folder with the files accessKeyId and secretAccessKey with --s3-credentials, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY';
  throw new CliError('usage', 'CredentialsMissing', message);
}

/** The same files as those of a mirror's Secret. */
async function readKeyFolder(folder: string): Promise<S3Credentials> {
  try {
    return readAccessKey(await readMirrorSecret(folder));
  } catch (cause) {
    const message =
      '--s3-credentials must be a folder with the files accessKeyId and secretAccessKey, and sessionToken for temporary keys; check its path and permissions';
    throw new CliError('usage', 'InvalidCredentials', message, { cause });
  }
}

async function readSecret(path: string | undefined): Promise<Uint8Array> {
  if (path === undefined) {
    const message = '--to with https:// needs --webhook-secret-file, which signs each request';
    throw new CliError('usage', 'SecretMissing', message);
  }
  const text = await readBounded(path, 4096).catch((cause: unknown) => {
    const message = `--webhook-secret-file cannot be read (${publishableCode(cause)}); check its path and permissions`;
    throw new CliError('usage', 'SecretUnreadable', message, { cause });
  });
  const secret = readWebhookSecret(text ?? '');
  if (secret.length < 16)
    throw new CliError('usage', 'SecretInvalid', '--webhook-secret-file must hold at least 16 bytes');
  return secret;
}
