// A real S3 service on loopback: versitygw over a temporary folder, where an object is a file. Built once from its Go
// module and cached. A test file that needs it passes `noS3` as its `skip`.
//
//   const s3 = await startVersitygw();
//   await s3.createBucket('docs');
//   const bucket = await openBucket(s3.settings('docs'), systemClock);
//   …
//   await s3.close();
//
// It knows no STS: a session token is always refused, as one that is not valid.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { AccessKey, BucketSettings } from '#mirror/s3/bucket.ts';
import { createRequestSigner } from '#mirror/s3/request-signer.ts';
import { systemClock } from '#platform/runtime/clock.ts';
import { startProgram } from './child-program.ts';
import { mustRun } from './command.ts';
import { eventually } from './eventually.ts';
import { findFreePort } from './free-port.ts';
import { findGoProgram } from './go-program.ts';
import { maySkip } from './may-skip.ts';
import { removeAfterUs } from './reaper.ts';
import { declareSecret } from './secret-watch.ts';

export interface Versitygw {
  readonly origin: string;
  /** May do everything. */
  readonly rootKey: AccessKey;
  createBucket(name: string): Promise<void>;
  /** A user who may read the bucket and list it, and nothing else. */
  createReader(bucket: string): Promise<AccessKey>;
  /** For `openBucket`, with the root's key. */
  settings(bucket: string, change?: Partial<BucketSettings>): BucketSettings;
  /** The file of an object. */
  fileOf(bucket: string, key: string): string;
  close(): Promise<void>;
}

const region = 'us-east-1';
const rootKey: AccessKey = {
  kind: 'AccessKey',
  accessKeyId: 'versitygw-root',
  secretAccessKey: 'versitygw-root-secret',
};

const path = `${process.env['PATH'] ?? ''}${delimiter}/usr/local/go/bin`;
const isGoMissing = spawnSync('sh', ['-c', 'command -v go'], { env: { PATH: path } }).status !== 0;

/** Why the tests with a real S3 service are skipped here; `false` when they are not. */
export const noS3 = maySkip('s3', isGoMissing && 'the S3 service versitygw is built with Go');

/** @throws Error saying what to install when it must be built and there is no Go */
export function findVersitygw(): Promise<string> {
  const module = {
    folder: join(import.meta.dirname, 'versitygw'),
    mainPackage: 'github.com/versity/versitygw/cmd/versitygw',
    standardPackages: 230,
  };
  return findGoProgram(module);
}

export async function startVersitygw(): Promise<Versitygw> {
  const file = await findVersitygw();
  declareSecret('the key of the storage', rootKey.secretAccessKey);
  const folder = await mkdtemp(join(tmpdir(), 'versitygw-'));
  removeAfterUs(folder);
  const [data, sidecar, iam] = ['data', 'sidecar', 'iam'].map((name) => join(folder, name));
  if (data === undefined || sidecar === undefined || iam === undefined) throw new Error('no folders');
  await Promise.all([data, sidecar, iam].map((each) => mkdir(each)));
  const port = await findFreePort();
  const origin = `http://127.0.0.1:${port}`;
  const program = startProgram(file, {
    args: [
      ...['--port', `127.0.0.1:${port}`, '--region', region, '--iam-dir', iam, '--iam-cache-disable'],
      ...['--health', '/healthz', '--keep-alive', '--quiet', 'posix', '--sidecar', sidecar, data],
    ],
    env: { ROOT_ACCESS_KEY: rootKey.accessKeyId, ROOT_SECRET_KEY: rootKey.secretAccessKey },
  });
  await eventually('versitygw answers', async () => {
    if (program.hasExited()) throw new Error(program.tail());
    return (await fetch(`${origin}/healthz`)).ok || undefined;
  });
  const settings = (bucket: string, change: Partial<BucketSettings> = {}): BucketSettings => ({
    bucket,
    region,
    endpoint: origin,
    pathStyle: true,
    isHttpAllowed: true,
    allowPrivateAddresses: true,
    credentials: rootKey,
    attempts: 1,
    ...change,
  });
  const signer = createRequestSigner(region, rootKey, systemClock);
  const put = async (name: string, query: Readonly<Record<string, string>>, body = ''): Promise<void> => {
    const sha256 = createHash('sha256').update(body).digest('hex');
    const unsigned = { method: 'PUT', origin: new URL(origin), path: `/${name}`, query };
    const headers = await signer.sign({ ...unsigned, headers: { 'x-amz-content-sha256': sha256 } });
    const url = `${origin}/${name}?${Object.keys(query).join('&')}`;
    const { status } = await fetch(url, { method: 'PUT', headers, ...(body !== '' && { body }) });
    if (status >= 300) throw new Error(`versitygw answered ${status} to PUT ${name}`);
  };
  return {
    origin,
    rootKey,
    createBucket: (name) => put(name, {}),
    createReader: async (bucket) => {
      const key: AccessKey = {
        kind: 'AccessKey',
        accessKeyId: `reader-of-${bucket}`,
        secretAccessKey: declareSecret("the reader's key of the storage", 'reader-secret'),
      };
      const login = ['--access', rootKey.accessKeyId, '--secret', rootKey.secretAccessKey];
      const user = ['--access', key.accessKeyId, '--secret', key.secretAccessKey, '--role', 'user'];
      await mustRun([file, 'admin', ...login, '--endpoint-url', origin, 'create-user', ...user]);
      const statement = {
        Effect: 'Allow',
        Principal: { AWS: [key.accessKeyId] },
        Action: ['s3:GetObject', 's3:ListBucket'],
        Resource: [`arn:aws:s3:::${bucket}`, `arn:aws:s3:::${bucket}/*`],
      };
      const policy = JSON.stringify({ Version: '2012-10-17', Statement: [statement] });
      await put(bucket, { policy: '' }, policy);
      return key;
    },
    settings,
    fileOf: (bucket, key) => join(data, bucket, key),
    close: async () => {
      await program.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
