// Credentials in the form that the S3 library takes: an access key as it is, or a provider that obtains one and renews it
// before it expires. Refuses the library's default chain, which reads files of a home folder and starts programs.
// Invariant: no error of a provider holds a token, a key or an answer.

import { fromHttp } from '@aws-sdk/credential-provider-http';
import { fromTokenFile } from '@aws-sdk/credential-provider-web-identity';
import * as z from 'zod/mini';
import { PublishableError, publishableCode } from '#platform/wire/publishable-error.ts';
import type { ContainerIdentity, S3Credentials, WebIdentity } from './bucket.ts';
import { awsDomain } from './bucket-address.ts';
import type { BucketFault } from './bucket-fault.ts';
import { librarySettings, silentLibraryLogger } from './library-settings.ts';
import type { StsHandler } from './sts-handler.ts';

export interface LibraryKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
  readonly expiration?: Date;
}

export interface CredentialsOptions {
  /** Of the bucket. */
  readonly region: string;
  /** For STS: the operator's environment names it, so that internal addresses are allowed. */
  readonly handler: StsHandler;
}

/** @returns what the library's `credentials` takes. A provider throws {@link BucketFault} only */
export function libraryCredentials(
  credentials: S3Credentials,
  options: CredentialsOptions,
): LibraryKeys | (() => Promise<LibraryKeys>) {
  switch (credentials.kind) {
    case 'AccessKey':
      return credentials;
    case 'WebIdentity':
      return webIdentity(credentials, options);
    case 'ContainerIdentity':
      return containerIdentity(credentials);
  }
}

function webIdentity(
  identity: WebIdentity,
  { region, handler }: CredentialsOptions,
): () => Promise<LibraryKeys> {
  const stsRegion = identity.region ?? region;
  const provider = fromTokenFile({
    webIdentityTokenFile: identity.tokenFile,
    roleArn: identity.roleArn,
    roleSessionName: identity.sessionName ?? 'static-export-operator',
    logger: silentLibraryLogger,
    clientConfig: {
      ...librarySettings,
      region: stsRegion,
      endpoint: identity.stsEndpoint ?? `https://sts.${stsRegion}.${awsDomain(stsRegion)}`,
      requestHandler: handler,
    },
  });
  return async () => {
    try {
      return await provider();
    } catch (error) {
      throw webIdentityFault(error);
    }
  };
}

const stsError = z.object({ name: z.string(), $metadata: z.object({ httpStatusCode: z.number() }) });
const stsCodes = new Set([
  'AccessDenied',
  'ExpiredTokenException',
  'IDPRejectedClaim',
  'InvalidIdentityToken',
]);

function webIdentityFault(error: unknown): BucketFault {
  const answer = stsError.safeParse(error);
  if (answer.success) {
    const status = answer.data.$metadata.httpStatusCode;
    const code = answer.data.name.replace(/Exception$/, '');
    const returned = `STS returned ${status}${stsCodes.has(code) ? ` (${code})` : ''} for the role of the service account`;
    return status === 429 || status >= 500
      ? new PublishableError('Unreachable', `${returned}.`, { kind: 'retry' })
      : new PublishableError('Denied', `${returned}. Check the role's trust policy, and AWS_ROLE_ARN.`);
  }
  const code = publishableCode(error);
  if (/^(?:ENOENT|EACCES|EISDIR)$/.test(code)) {
    return new PublishableError(
      'InvalidCredentials',
      `The token of the service account cannot be read (${code}). Check AWS_WEB_IDENTITY_TOKEN_FILE.`,
    );
  }
  return new PublishableError(
    'Unreachable',
    `STS did not answer (${code}), so that there are no credentials for the bucket. Check the network.`,
    { kind: 'retry' },
  );
}

function containerIdentity({ url, token, tokenFile }: ContainerIdentity): () => Promise<LibraryKeys> {
  return async () => {
    try {
      // Made here, because it throws for an address that it does not accept.
      return await fromHttp({
        awsContainerCredentialsRelativeUri: '',
        awsContainerCredentialsFullUri: url,
        awsContainerAuthorizationToken: tokenFile === undefined ? (token ?? '') : '',
        awsContainerAuthorizationTokenFile: tokenFile ?? '',
        timeout: 5000,
        // It would wait as long as the timeout between two.
        maxRetries: 0,
        logger: silentLibraryLogger,
      })();
    } catch {
      throw new PublishableError(
        'InvalidCredentials',
        "The agent of the container's credentials gave none. Check the pod identity association, and AWS_CONTAINER_CREDENTIALS_FULL_URI.",
        { kind: 'retry' },
      );
    }
  };
}
