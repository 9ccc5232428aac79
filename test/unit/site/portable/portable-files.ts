// A site in memory and what the portable profile makes of it, for the tests of its rules.

import { hash } from 'node:crypto';
import {
  type PortableFile,
  type PortableOptions,
  type PortablePlan,
  planPortable,
} from '#site/portable/portable-site.ts';

export type TextSite = Readonly<Record<string, string>>;

export interface PortableResult {
  readonly plan: PortablePlan;
  readonly site: TextSite;
}

export function portableFiles(site: TextSite): readonly PortableFile[] {
  return Object.entries(site).map(([path, text]) => {
    const bytes = Buffer.from(text, 'latin1');
    return { path, size: bytes.length, sha256: hash('sha256', bytes, 'hex'), read: () => [bytes] };
  });
}

/** @param site one character for each byte */
export async function portable(site: TextSite, options: PortableOptions = {}): Promise<PortableResult> {
  const plan = await planPortable(portableFiles(site), options, new AbortController().signal);
  const after: Record<string, string> = {};
  for (const { path, size, sha256, read } of plan.files) {
    const pieces: Uint8Array[] = [];
    for await (const piece of read()) pieces.push(piece);
    const bytes = Buffer.concat(pieces);
    if (bytes.length !== size || hash('sha256', bytes, 'hex') !== sha256) {
      throw new Error(`${path} is not what the plan says`);
    }
    after[path] = bytes.toString('latin1');
  }
  return { plan, site: after };
}

/** What becomes of one page among other files. */
export async function portablePage(
  page: string,
  others: readonly string[] = [],
  options: PortableOptions = {},
  path = 'guides/page.html',
): Promise<string> {
  const files = Object.fromEntries(others.map((other) => [other, '']));
  return (await portable({ ...files, [path]: page }, options)).site[path] ?? '';
}
