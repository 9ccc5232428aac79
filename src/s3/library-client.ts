// The client of the S3 library, with everything fixed that it would otherwise read from the environment and from files of a
// home folder. Refuses the library's default checksums, which several services reject. Invariant: two runs with the same
// settings behave the same on any machine.

import { S3Client } from '@aws-sdk/client-s3';
import { createAgent } from '../http/agent.ts';
import type { BucketSettings } from './bucket.ts';
import { GuardedHandler } from './guarded-handler.ts';
import { libraryCredentials } from './library-credentials.ts';
import { librarySettings } from './library-settings.ts';

const defaultIdleTimeoutMs = 30_000;

export interface LibraryClient {
  readonly client: S3Client;
  /** Ends requests in progress too. */
  close(): Promise<void>;
}

/** @param origin of `readBucketOrigin` */
export function createLibraryClient(settings: BucketSettings, origin: string): LibraryClient {
  const { region, isHttpAllowed = false, allowPrivateAddresses } = settings;
  const connection = {
    extraCaPem: settings.extraCaPem,
    proxy: settings.proxy,
    idleTimeoutMs: settings.idleTimeoutMs ?? defaultIdleTimeoutMs,
  };
  const agent = createAgent({ ...connection, allowPrivateAddresses });
  // The operator's environment names STS, which a private endpoint of a cloud network may answer.
  const stsAgent = createAgent({ ...connection, allowPrivateAddresses: true });
  const stsHandler = new GuardedHandler({ agent: stsAgent, isHttpAllowed: true });
  const client = new S3Client({
    ...librarySettings,
    region,
    endpoint: origin,
    forcePathStyle: settings.pathStyle ?? false,
    credentials: libraryCredentials(settings.credentials, { region, handler: stsHandler }),
    requestHandler: new GuardedHandler({ agent, isHttpAllowed }),
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // undici refuses the header. A HEAD before a large write finds out the same.
    expectContinueHeader: false,
    followRegionRedirects: false,
    useArnRegion: false,
    disableS3ExpressSessionAuth: true,
  });
  return {
    client,
    close: async () => {
      client.destroy();
      await Promise.all([agent.destroy(), stsAgent.destroy()]);
    },
  };
}
