// A presigned link. Any reader of its text can download the archive, so the text is hard to read by accident. Owns:
// the opaque type, and what is safe to know of a link (host, signed expiry). Invariant: no implicit conversion,
// JSON, template string or inspection of a Link shows its text.

const custom: unique symbol = Symbol.for('nodejs.util.inspect.custom');
const redacted = '[redacted]';

/** From when (the signing, or a later start) and until when a signature is valid, both in epoch milliseconds. */
export interface SignedLifetime {
  readonly signedAt: number | undefined;
  readonly expiresAt: number;
}

export class Link {
  readonly #url: URL;
  readonly #claimedExpiresAt: number | undefined;
  readonly #claimedBytes: number | undefined;

  private constructor(url: URL, claimedExpiresAt?: number, claimedBytes?: number) {
    this.#url = url;
    this.#claimedExpiresAt = claimedExpiresAt;
    this.#claimedBytes = claimedBytes;
  }

  /** Reads an absolute `http:`, `https:` or `file:` URL. Returns `undefined` for anything else; never throws. */
  static parse(text: unknown): Link | undefined {
    if (typeof text !== 'string' || !URL.canParse(text)) return undefined;
    const url = new URL(text);
    return ['http:', 'https:', 'file:'].includes(url.protocol) ? new Link(url) : undefined;
  }

  /** The text itself. Only for the request that downloads the archive, and for the output Secret. */
  reveal(): string {
    return this.#url.href;
  }

  /** The same link, with the expiry that its issuer claims. */
  validUntil(claimedExpiresAt: number | undefined): Link {
    return new Link(this.#url, claimedExpiresAt, this.#claimedBytes);
  }

  /** The same link, with the length of the archive that its issuer claims. */
  ofBytes(claimedBytes: number | undefined): Link {
    return new Link(this.#url, this.#claimedExpiresAt, claimedBytes);
  }

  /** Epoch ms, as its issuer says. A signature's own date counts before it. */
  get claimedExpiresAt(): number | undefined {
    return this.#claimedExpiresAt;
  }

  /** Of the archive as it lies in the storage. */
  get claimedBytes(): number | undefined {
    return this.#claimedBytes;
  }

  get protocol(): string {
    return this.#url.protocol;
  }

  /** Host without port. Safe to publish: it names the storage and grants no access. */
  get host(): string {
    return this.#url.hostname;
  }

  isSame(other: Link | undefined): boolean {
    return other !== undefined && other.#url.href === this.#url.href;
  }

  /**
   * A link to a file in its current state. The state becomes the fragment, which opens the same file and makes a
   * different link when the file has changed.
   */
  inState(state: string): Link {
    const url = new URL(this.#url);
    url.hash = state;
    return new Link(url, this.#claimedExpiresAt, this.#claimedBytes);
  }

  /** The lifetime that the link's own signature states, for the signature schemes that state it in the query. */
  signedLifetime(): SignedLifetime | undefined {
    const query = new Map([...this.#url.searchParams].map(([name, value]) => [name.toLowerCase(), value]));
    return datedLifetime(query) ?? policyLifetime(query) ?? keyTimeLifetime(query) ?? instantLifetime(query);
  }

  toString(): string {
    return redacted;
  }

  toJSON(): string {
    return redacted;
  }

  [custom](): string {
    return redacted;
  }
}

/** `X-Amz-Date` and `X-Amz-Expires` of SigV4, and their twins of Google, Alibaba and others: an instant and seconds. */
function datedLifetime(query: ReadonlyMap<string, string>): SignedLifetime | undefined {
  const vendor = [...query.keys()].map((name) => /^x-([a-z]{2,8})-date$/.exec(name)?.[1]).find(Boolean);
  const seconds = query.get(`x-${vendor}-expires`);
  const parts = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(query.get(`x-${vendor}-date`) ?? '');
  if (parts === null || seconds === undefined || !/^\d{1,10}$/.test(seconds)) return undefined;
  const [, y, mo, d, h, mi, s] = parts;
  const signedAt = Date.parse(`${y}-${mo}-${d}T${h}:${mi}:${s}Z`);
  return Number.isNaN(signedAt) ? undefined : { signedAt, expiresAt: signedAt + Number(seconds) * 1000 };
}

/** CloudFront's policy: JSON in base64 with `-`, `_` and `~`. Read by its two instants, not as a document. */
function policyLifetime(query: ReadonlyMap<string, string>): SignedLifetime | undefined {
  const policy = query.get('policy');
  if (policy === undefined || policy.length > longestPolicy || !query.has('signature')) return undefined;
  const base64 = policy.replaceAll('-', '+').replaceAll('_', '=').replaceAll('~', '/');
  const text = Buffer.from(base64, 'base64').toString('latin1');
  const secondsOf = (name: string): number | undefined => {
    const found = new RegExp(
      `"${name}"\\s{0,9}:\\s{0,9}\\{\\s{0,9}"AWS:EpochTime"\\s{0,9}:\\s{0,9}(\\d{1,11})`,
    ).exec(text);
    return found?.[1] === undefined ? undefined : Number(found[1]) * 1000;
  };
  const expiresAt = secondsOf('DateLessThan');
  return expiresAt === undefined ? undefined : { signedAt: secondsOf('DateGreaterThan'), expiresAt };
}

const longestPolicy = 8192;

/** Tencent: `q-sign-time` holds both instants in epoch seconds. */
function keyTimeLifetime(query: ReadonlyMap<string, string>): SignedLifetime | undefined {
  const [, start, end] = /^(\d{9,11});(\d{9,11})$/.exec(query.get('q-sign-time') ?? '') ?? [];
  if (start === undefined || end === undefined) return undefined;
  return { signedAt: Number(start) * 1000, expiresAt: Number(end) * 1000 };
}

/** Signatures that state the expiry as an instant: epoch seconds in `Expires`, or ISO in Azure's `se`. */
function instantLifetime(query: ReadonlyMap<string, string>): SignedLifetime | undefined {
  const expires = query.get('expires');
  const isSigned = query.has('signature') || query.has('sig');
  if (isSigned && expires !== undefined && /^\d{9,11}$/.test(expires)) {
    return { signedAt: undefined, expiresAt: Number(expires) * 1000 };
  }
  const se = query.get('se');
  if (!isSigned || se === undefined) return undefined;
  const expiresAt = Date.parse(se);
  if (Number.isNaN(expiresAt)) return undefined;
  const signedAt = Date.parse(query.get('st') ?? '');
  return { signedAt: Number.isNaN(signedAt) ? undefined : signedAt, expiresAt };
}
