// `bundle.json`, the one key of the output Secret that a server reads. It holds everything about the published bundle
// in one text, so that no reader mixes two versions. The operator writes it, servers read it. A server also accepts a
// `bundle.json` written by hand (or by the site's chart), which needs a link, or a digest. Refuses to be printed: after parsing, `bundleUrl`
// is a Link.

import * as z from 'zod/mini';
import { formatInstant } from '#platform/wire/instant.ts';
import { readJson } from '#platform/wire/json-text.ts';
import { Link } from '#platform/wire/link.ts';
import { printable } from '#platform/wire/printable-text.ts';
import type { LinkTimes, Publication } from '#platform/wire/publication.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';

/** The link as published. */
export interface PublishedLink extends LinkTimes {
  readonly url: Link;
}

export interface PublishedBundle extends Publication {
  readonly link: PublishedLink | undefined;
}

/** A server needs a link, or a digest: of a copy in a mirror, on its disk, or with a peer. The other fields describe it. */
export type ServedBundle = Pick<PublishedBundle, 'digest'> & {
  readonly link: Link | undefined;
  /** Of the copy in a mirror: `oci://…` or `s3://…`. Not secret. Only with a digest. */
  readonly ref?: string | undefined;
  /** `undefined`: the content has no name, and a changed link is fetched to see whether it differs. */
  readonly version: string | undefined;
  readonly jobId: string | undefined;
  /** Path that its links begin with, `''` for the root. Absent: unknown. */
  readonly basePath?: string | undefined;
} & { readonly [time in keyof LinkTimes]: LinkTimes[time] | undefined };

const instant = z.pipe(
  z.iso.datetime({ offset: true }),
  z.transform((text: string) => Date.parse(text)),
);
/** Longer than any reference. Its form is checked where it is used. */
const maxRefLength = 2048;
/** As a URL has it, without a trailing slash; the root is the empty text. */
const plainPath = /^(?:\/(?!\.{1,2}(?:\/|$))[\w.~-]+)*$/;
const printableUpTo = (length: number) => z.transform((text: string) => printable(text, length));
const content = z.object({
  version: z.pipe(z.string().check(z.minLength(1), z.maxLength(63)), printableUpTo(63)),
  digest: z.optional(z.string().check(z.regex(/^[0-9a-f]{64}$/))),
  jobId: z.pipe(z.string().check(z.minLength(1)), printableUpTo(512)),
  pages: z.optional(z.int().check(z.nonnegative())),
  sizeBytes: z.optional(z.int().check(z.nonnegative())),
  ref: z.optional(z.string().check(z.regex(/^(oci|s3):\/\//), z.maxLength(maxRefLength))),
  basePath: z.optional(z.string().check(z.maxLength(256), z.regex(plainPath))),
  repair: z.optional(z.string().check(z.minLength(1), z.maxLength(512), z.regex(/^[a-z0-9.:= -]*$/i))),
  repairRevision: z.optional(z.string().check(z.minLength(1), z.maxLength(512), z.regex(/^[a-z0-9: -]*$/))),
});
const link = z.object({
  bundleUrl: z.pipe(
    z.string(),
    z.transform((text: string, { issues }) => {
      const url = Link.parse(text);
      // Without the text, which a message could quote.
      if (url === undefined) issues.push({ code: 'custom', input: undefined, message: 'not a URL' });
      return url ?? z.NEVER;
    }),
  ),
  issuedAt: instant,
  expiresAt: instant,
});

type SourceFields = { readonly [field in 'bundleUrl' | 'ref' | 'digest']?: unknown };
const needSource = ({ bundleUrl, ref, digest }: SourceFields, context: z.core.$RefinementCtx): void => {
  if (bundleUrl === undefined && ref === undefined) {
    context.addIssue({ code: 'custom', path: ['bundleUrl'], message: 'missing' });
  }
  if (ref !== undefined && digest === undefined) {
    context.addIssue({ code: 'custom', path: ['digest'], message: 'missing' });
  }
};
const servedSchema = z.partial(z.extend(content, link.shape)).check(
  z.superRefine((bundle, context) => {
    // Without link and reference the content is on the disk, or with a peer.
    if (bundle.ref !== undefined || bundle.digest === undefined) needSource(bundle, context);
  }),
);
/** A link has its times; without one there are none. */
const publishedSchema = z.extend(content, z.partial(link).shape).check(
  z.superRefine((bundle, context) => {
    needSource(bundle, context);
    for (const time of ['issuedAt', 'expiresAt'] as const) {
      if (bundle.bundleUrl === undefined || bundle[time] !== undefined) continue;
      context.addIssue({ code: 'custom', path: [time], message: 'missing' });
    }
  }),
);

/** Whole, as the operator writes it. @throws {PublishableError} naming the fields that are wrong, never their values */
export function parsePublishedBundle(text: string): PublishedBundle {
  const read = parseBundleJson(text, publishedSchema);
  const { version, jobId, digest, pages, sizeBytes, ref, basePath, repair, repairRevision, ...rest } = read;
  const { bundleUrl: url, issuedAt, expiresAt } = rest;
  const hasLink = url !== undefined && issuedAt !== undefined && expiresAt !== undefined;
  const published = hasLink ? { url: url.validUntil(expiresAt), issuedAt, expiresAt } : undefined;
  const known = {
    ...(basePath !== undefined && { basePath }),
    ...(repair !== undefined && { repair }),
    ...(repairRevision !== undefined && { repairRevision }),
  };
  return { version, jobId, digest, pages, sizeBytes, ref, ...known, link: published };
}

/**
 * What a server accepts: the operator's `bundle.json`, one with as little as `{"bundleUrl": "https://…"}`, `ref` and `digest` of a
 * copy in a mirror, or the `digest` of what its store holds.
 * Every field that is present must be valid, so that a damaged text is never taken for a short one.
 *
 * @throws {PublishableError} naming the fields that are wrong, never their values
 */
export function parseServedBundle(text: string): ServedBundle {
  const served = parseBundleJson(text, servedSchema);
  const { bundleUrl, ref, version, digest, jobId, basePath, issuedAt, expiresAt } = served;
  const link = bundleUrl?.validUntil(expiresAt);
  const path = basePath !== undefined && { basePath };
  return { link, ref, version, digest, jobId, ...path, issuedAt, expiresAt };
}

/** Twice the longest answer that a link comes in; a mebibyte of brackets would hold up every request of a server. */
export const longestBundleJson = 256 * 1024;

function parseBundleJson<T>(text: string, schema: z.ZodMiniType<T>): T {
  if (text.length > longestBundleJson) {
    const bound = `${longestBundleJson} characters; write nothing into it but its own fields`;
    throw invalid(`bundle.json is longer than ${bound}`);
  }
  const json = readJson(text);
  if (json === undefined) throw invalid('bundle.json is not JSON; write it whole or remove it');
  const parsed = schema.safeParse(json);
  if (!parsed.success) {
    const fields = [...new Set(parsed.error.issues.map((issue) => issue.path.join('.')))];
    const wrong = fields.map((field) => `${field || 'bundle.json'} must be ${wanted[field] ?? 'valid'}`);
    throw invalid(`bundle.json cannot be used: ${wrong.join('; ')}`);
  }
  return parsed.data;
}

const wanted: Readonly<Record<string, string>> = {
  '': 'an object with a bundleUrl, or with a digest',
  version: 'a text of 1 to 63 characters',
  digest: '64 hex digits in lower case',
  jobId: 'a text',
  bundleUrl: 'an https:, http: or file: URL',
  ref: 'an oci:// or s3:// reference',
  issuedAt: 'an instant such as 2026-01-31T12:00:00Z',
  expiresAt: 'an instant such as 2026-01-31T12:00:00Z',
  pages: 'a whole number',
  sizeBytes: 'a whole number',
  basePath: 'a path such as /docs, or empty for the root',
  repair: 'a list of steps such as canonical=strip search',
  repairRevision: 'a list of steps with their revisions such as canonical:1 search:2',
};

/** Without a cause: a parser's message quotes the text, and the text holds the link. */
function invalid(message: string): PublishableError {
  return new PublishableError('InvalidBundleJson', message);
}

/** The text of `bundle.json`, keys in a fixed order, instants in UTC seconds. The result holds the link. */
export function formatPublishedBundle(bundle: PublishedBundle): string {
  return JSON.stringify({
    version: bundle.version,
    digest: bundle.digest,
    jobId: bundle.jobId,
    bundleUrl: bundle.link?.url.reveal(),
    issuedAt: bundle.link && formatInstant(bundle.link.issuedAt),
    expiresAt: bundle.link && formatInstant(bundle.link.expiresAt),
    pages: bundle.pages,
    sizeBytes: bundle.sizeBytes,
    ref: bundle.ref,
    basePath: bundle.basePath,
    repair: bundle.repair,
    repairRevision: bundle.repairRevision,
  });
}
