// A bucket of an S3 service as this project uses it: five calls, and what is needed to open one. Types only, so that code
// which stores something loads no S3 library. Invariant: every call throws `BucketFault`, the signal's reason, or what
// the caller's own source of bytes threw, and nothing else.

import type { ProxySettings } from '#platform/http/proxy-settings.ts';

/** An access key, temporary if it has a session token. */
export interface AccessKey {
  readonly kind: 'AccessKey';
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

/** IRSA: a token of the pod's service account, exchanged at STS for keys of a role. */
export interface WebIdentity {
  readonly kind: 'WebIdentity';
  readonly tokenFile: string;
  readonly roleArn: string;
  readonly sessionName?: string | undefined;
  /** The bucket's region when absent. */
  readonly region?: string | undefined;
  /** `https://sts.REGION.amazonaws.com` when absent. */
  readonly stsEndpoint?: string | undefined;
}

/** EKS Pod Identity and ECS: keys from an agent beside the container. */
export interface ContainerIdentity {
  readonly kind: 'ContainerIdentity';
  readonly url: string;
  readonly token?: string | undefined;
  readonly tokenFile?: string | undefined;
}

export type S3Credentials = AccessKey | WebIdentity | ContainerIdentity;

export interface BucketSettings {
  readonly bucket: string;
  /** Signed into each request. For services without regions such as `us-east-1` or `auto`. */
  readonly region: string;
  /** `https://HOST[:PORT]` of a service other than AWS. */
  readonly endpoint?: string | undefined;
  /** Addresses of the form `https://HOST/BUCKET/KEY`, for services without a host name for each bucket. */
  readonly pathStyle?: boolean | undefined;
  readonly credentials: S3Credentials;
  readonly isHttpAllowed?: boolean | undefined;
  /** Of the bucket. What credentials are exchanged at comes from the operator's environment, and is not guarded. */
  readonly allowPrivateAddresses: boolean;
  readonly extraCaPem?: string | undefined;
  readonly proxy?: ProxySettings | undefined;
  /** Longest wait for a connection, for an answer, and between two pieces of a body. 30 s when absent. */
  readonly idleTimeoutMs?: number | undefined;
  /** Of each call, the first one included. 4 when absent. */
  readonly attempts?: number | undefined;
}

export interface StoredObject {
  /** Bytes. */
  readonly size: number;
  /** Epoch milliseconds, by the service's clock. */
  readonly modifiedAt: number;
}

export interface ListedObject extends StoredObject {
  readonly key: string;
}

export interface NewObject {
  readonly key: string;
  readonly size: number;
  /** Hex digits. It is signed, so that the service refuses other content. */
  readonly sha256: string;
  readonly contentType: string;
  /** Called for each attempt. */
  readonly open: () => AsyncIterable<Uint8Array>;
  /** Otherwise an object that exists is left as it is. */
  readonly replaces?: boolean | undefined;
}

export interface Bucket {
  /** Without its host. */
  readonly name: string;
  /** @returns `undefined` if there is no such object */
  head(key: string, signal: AbortSignal): Promise<StoredObject | undefined>;
  /** @returns its bytes, to be read once, to the end or left early; `undefined` if there is no such object */
  get(key: string, signal: AbortSignal): Promise<AsyncIterable<Buffer> | undefined>;
  /**
   * One request of known size. Where the service has no conditional writes, another client may write between check
   * and write.
   */
  put(object: NewObject, signal: AbortSignal): Promise<'written' | 'exists'>;
  /** In no particular order, read page by page. */
  list(prefix: string, signal: AbortSignal): AsyncIterable<ListedObject>;
  /** Absent is done. */
  delete(key: string, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}
