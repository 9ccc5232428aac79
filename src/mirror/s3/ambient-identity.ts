// The identity that a pod or pipeline has by its environment, as the S3 library's own chain reads it: keys, IRSA, then
// Pod Identity. Pure: `bin` hands the environment in. Refuses files of a home folder, and the identity of the node
// (instance metadata): a pod that has no identity of its own must not act as its node.

import type { S3Credentials } from './bucket.ts';

/** @returns `undefined` where the environment names no identity */
export function readAmbientIdentity(
  env: Readonly<Record<string, string | undefined>>,
): S3Credentials | undefined {
  const read = (name: string): string | undefined => env[name]?.trim() || undefined;
  const accessKeyId = read('AWS_ACCESS_KEY_ID');
  const secretAccessKey = read('AWS_SECRET_ACCESS_KEY');
  if (accessKeyId !== undefined && secretAccessKey !== undefined) {
    const sessionToken = read('AWS_SESSION_TOKEN');
    return { kind: 'AccessKey', accessKeyId, secretAccessKey, sessionToken };
  }
  const tokenFile = read('AWS_WEB_IDENTITY_TOKEN_FILE');
  const roleArn = read('AWS_ROLE_ARN');
  if (tokenFile !== undefined && roleArn !== undefined) {
    return {
      kind: 'WebIdentity',
      tokenFile,
      roleArn,
      sessionName: read('AWS_ROLE_SESSION_NAME'),
      region: read('AWS_REGION') ?? read('AWS_DEFAULT_REGION'),
      stsEndpoint: read('AWS_ENDPOINT_URL_STS'),
    };
  }
  const path = read('AWS_CONTAINER_CREDENTIALS_RELATIVE_URI');
  const url = path === undefined ? read('AWS_CONTAINER_CREDENTIALS_FULL_URI') : `http://169.254.170.2${path}`;
  if (url === undefined) return undefined;
  return {
    kind: 'ContainerIdentity',
    url,
    token: read('AWS_CONTAINER_AUTHORIZATION_TOKEN'),
    tokenFile: read('AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE'),
  };
}
