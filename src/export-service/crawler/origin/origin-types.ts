// Which content types of the origin a bundle has to keep: those that its server would not find by name and bytes. Owns the
// comparison with that server's own choice. Refuses a charset that the bytes do not need: an origin may name one for a page in
// UTF-8. Invariant: of bodies in UTF-8 with names that show their type, nothing is kept.

import { contentTypeByName, contentTypeOf, isDocument, isTextType } from '#bundle/content-type.ts';
import { declarationBytes, declaresCharset } from '#bundle/declared-charset.ts';
import { charsetNamed, maySendType, readSiteType, type SiteType, siteTypeText } from '#bundle/site-types.ts';
import type { BodyKind } from '#site/references/body-links.ts';
import { charsetIn } from '#site/references/body-text.ts';
import type { StoredBody } from '../spool.ts';

/** A body, and what is known of it. */
export interface OriginBody {
  readonly body: StoredBody;
  readonly isDocument: boolean;
  /** What it was read as. */
  readonly role: BodyKind;
  /** As the origin's header says it. */
  readonly originType?: SiteType | undefined;
}

/** @param header `Content-Type` as it came. @returns its one form; `undefined` where it says nothing that a bundle could keep */
export function originTypeOf(header: string): SiteType | undefined {
  const media = header.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const charset = charsetNamed(charsetIn(header) ?? '');
  const isForeign = charset !== undefined && charset !== 'utf-8' && isTextType(media);
  return readSiteType(siteTypeText({ media, charset: isForeign ? charset : undefined }));
}

/**
 * @param path of the file in the bundle
 * @param read the body in pieces; called only where its bytes decide
 * @returns the text of the type to keep
 * @throws what `read` throws
 */
export async function typeToKeep(
  path: string,
  { media, charset }: SiteType,
  read: () => AsyncIterable<Uint8Array>,
): Promise<string | undefined> {
  const own = contentTypeOf(path).split(';', 1)[0] ?? '';
  const isNamed =
    contentTypeByName(path) !== undefined && !(isDocument(path) && maySendType(path, { media }));
  const kept = isNamed ? own : media;
  const isNeeded = charset !== undefined && isTextType(kept) && (await needsCharset(kept, charset, read()));
  if (kept === own && !isNeeded) return undefined;
  const type = { media: kept, charset: isNeeded ? charset : undefined };
  return maySendType(path, type) ? siteTypeText(type) : undefined;
}

/** Bytes of ISO-2022-JP and UTF-16 may be UTF-8 too, and mean other characters in it. */
const escapeByte = 0x1b;

async function needsCharset(
  media: string,
  charset: string,
  chunks: AsyncIterable<Uint8Array>,
): Promise<boolean> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let start = Buffer.alloc(0);
  let isOther = false;
  for await (const chunk of chunks) {
    if (start.length < declarationBytes) {
      start = Buffer.concat([start, chunk.subarray(0, declarationBytes - start.length)]);
    }
    // To the last piece: what is read only in part is not checked by the spool.
    isOther ||= chunk.includes(escapeByte) || chunk.includes(0) || !decodes(decoder, chunk);
  }
  isOther ||= !decodes(decoder);
  return isOther && !declaresCharset(media, start, charset);
}

function decodes(decoder: InstanceType<typeof TextDecoder>, chunk?: Uint8Array): boolean {
  try {
    decoder.decode(chunk, { stream: chunk !== undefined });
    return true;
  } catch {
    return false;
  }
}
