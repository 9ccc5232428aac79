// The hostile tenant's namespace, and the addresses that it may name.

export interface TenantContext {
  readonly namespace: string;
  /** The hostile vendor, on a host of its own. */
  readonly hostileUrl: string;
  /** The hostile vendor again, on a host that it shares with the other tenant's vendor. */
  readonly neighbourUrl: string;
  readonly trapUrl: string;
  /** Of the hostile git host, `https://…`. */
  readonly gitOrigin: string;
  /** `host:port` of the hostile registry. */
  readonly registry: string;
  readonly servedNamespace: string;
  /** An output Secret of the other tenant. */
  readonly servedOutput: string;
}
