// `bundle.json`, the one key of the output Secret that a server reads: everything about the published bundle
// in a single document, so that no reader ever mixes two versions. Written by the operator, read by servers.
// Refuses: being printed. `bundleUrl` is a Link on this side of the text.

import { z } from 'zod';
import { Link } from '../wire/link.ts';
import { PublishableError } from '../wire/publishable-error.ts';

export interface PublishedBundle {
  readonly version: string;
  /** SHA-256 hex, or `undefined` where inspection is off. */
  readonly digest: string | undefined;
  readonly jobId: string;
  readonly bundleUrl: Link;
  /** Epoch ms, whole seconds. */
  readonly issuedAt: number;
  /** Epoch ms, whole seconds. */
  readonly expiresAt: number;
  readonly pages: number | undefined;
  readonly sizeBytes: number | undefined;
}

/** Thrown when the text is not a `bundle.json`. */
export class PublishedBundleError extends PublishableError {}

const instant = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));
const document = z.object({
  version: z.string().min(1).max(63),
  digest: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .optional(),
  jobId: z.string().min(1),
  bundleUrl: z.string().transform((text, context) => {
    const link = Link.parse(text);
    if (link === undefined) context.addIssue('not a URL');
    return link ?? z.NEVER;
  }),
  issuedAt: instant,
  expiresAt: instant,
  pages: z.int().nonnegative().optional(),
  sizeBytes: z.int().nonnegative().optional(),
});

/** @throws {PublishedBundleError} naming the fields that are wrong, never their values */
export function parsePublishedBundle(text: string): PublishedBundle {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    // The parser's message quotes the text, and the text holds the link: no cause either.
    throw new PublishedBundleError(
      'InvalidBundleDocument',
      'bundle.json is not JSON; write it whole or remove it',
    );
  }
  const parsed = document.safeParse(json);
  if (!parsed.success) {
    const fields = [...new Set(parsed.error.issues.map((issue) => issue.path.join('.') || 'document'))];
    throw new PublishedBundleError(
      'InvalidBundleDocument',
      `bundle.json has invalid fields: ${fields.join(', ')}`,
    );
  }
  const { digest, pages, sizeBytes, ...rest } = parsed.data;
  return { ...rest, digest, pages, sizeBytes };
}

/** The document's text, keys in a fixed order, instants in UTC seconds. The result holds the link. */
export function formatPublishedBundle(bundle: PublishedBundle): string {
  return JSON.stringify({
    version: bundle.version,
    digest: bundle.digest,
    jobId: bundle.jobId,
    bundleUrl: bundle.bundleUrl.reveal(),
    issuedAt: formatInstant(bundle.issuedAt),
    expiresAt: formatInstant(bundle.expiresAt),
    pages: bundle.pages,
    sizeBytes: bundle.sizeBytes,
  });
}

function formatInstant(epochMs: number): string {
  return new Date(epochMs).toISOString().replace(/\.\d{3}Z$/, 'Z');
}
