// A presigned link. Any reader of its text can download the archive, so the text is hard to read by accident. Owns:
// the opaque type, and what is safe to know of a link (host, signed expiry). Invariant: no implicit conversion,
// JSON, template string or inspection of a Link shows its text.

const custom: unique symbol = Symbol.for('nodejs.util.inspect.custom');
const redacted = '[redacted]';

/** When a link was signed and when its signature expires, both in epoch milliseconds. */
export interface SignedLifetime {
  readonly signedAt: number | undefined;
  readonly expiresAt: number;
}

export class Link {
  readonly #url: URL;

  private constructor(url: URL) {
    this.#url = url;
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
    return new Link(url);
  }

  /** The lifetime that the link's own signature states, for the signature schemes that state it in the query. */
  signedLifetime(): SignedLifetime | undefined {
    const query = new Map([...this.#url.searchParams].map(([name, value]) => [name.toLowerCase(), value]));
    return (
      datedLifetime(query.get('x-amz-date'), query.get('x-amz-expires')) ??
      datedLifetime(query.get('x-goog-date'), query.get('x-goog-expires')) ??
      instantLifetime(query)
    );
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

/** SigV4 (Amazon) and V4 (Google): a compact ISO instant and a count of seconds. */
function datedLifetime(date: string | undefined, seconds: string | undefined): SignedLifetime | undefined {
  const parts = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(date ?? '');
  if (parts === null || seconds === undefined || !/^\d{1,10}$/.test(seconds)) return undefined;
  const [, y, mo, d, h, mi, s] = parts;
  const signedAt = Date.parse(`${y}-${mo}-${d}T${h}:${mi}:${s}Z`);
  return Number.isNaN(signedAt) ? undefined : { signedAt, expiresAt: signedAt + Number(seconds) * 1000 };
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
