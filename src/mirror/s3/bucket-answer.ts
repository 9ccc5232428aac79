// What S3 answers in XML: the code and words of a refusal, a page of a list, the id of an upload. Bounded, and tolerant:
// other forms are read as nothing. Refuses documents with declarations: the library parses 1 MiB of them in 50 s, and S3
// sends none.

import { parseXML } from '@aws-sdk/xml-builder';
import * as z from 'zod/mini';
import { headerOf, type WholeAnswer } from '#platform/http/exchange.ts';
import { codeShown, type ServiceRefusal } from '#platform/wire/service-refusal.ts';

/** The library parses the worst of this size in about 50 ms. A page of 100 keys of 1024 bytes fits. */
export const longestBucketAnswerBytes = 192 * 1024;

export interface BucketRefusal extends ServiceRefusal {
  readonly region: string | undefined;
}

const text = z.catch(z.optional(z.string()), undefined);
const errorShape = z.object({
  Error: z.catch(z.object({ Code: text, Message: text, Region: text }), {}),
});
const objectShape = z.object({ Key: z.string(), Size: text, LastModified: text });
const listShape = z.object({
  ListBucketResult: z.object({
    IsTruncated: z.string(),
    NextContinuationToken: text,
    Contents: z.catch(
      z.union([
        z.array(objectShape),
        z.pipe(
          objectShape,
          z.transform((one) => [one]),
        ),
      ]),
      [],
    ),
  }),
});
const uploadShape = z.object({ InitiateMultipartUploadResult: z.object({ UploadId: z.string() }) });

/** Such as eu-west-1, us-gov-west-1 and ap-southeast-3. */
const plausibleRegion = /^[a-z]{2}(?:-[a-z]{2,12}){1,3}-\d{1,2}$/;

export function readBucketRefusal(answer: WholeAnswer): BucketRefusal {
  const {
    Code: code,
    Message: message = '',
    Region,
  } = errorShape.safeParse(readXml(answer)).data?.Error ?? {};
  const region = [Region, headerOf(answer, 'x-amz-bucket-region')].find(
    (one) => one !== undefined && plausibleRegion.test(one),
  );
  return {
    ...{ status: answer.statusCode, region, code: codeShown(code) },
    text: code === undefined ? answer.bytes.toString('latin1') : `${code} ${message}`,
  };
}

export interface ListPage {
  readonly objects: readonly { readonly key: string; readonly size: number; readonly modifiedAt: number }[];
  readonly hasMore: boolean;
  readonly next: string | undefined;
}

/** @returns `undefined` for a page of another kind, such as a sign-in */
export function readListPage(answer: WholeAnswer): ListPage | undefined {
  const read = listShape.safeParse(readXml(answer)).data?.ListBucketResult;
  return (
    read && {
      objects: read.Contents.map(({ Key: key, Size: size = '0', LastModified: modified = '' }) => {
        const modifiedAt = Date.parse(modified);
        return { key, size: Number(size), modifiedAt: Number.isNaN(modifiedAt) ? 0 : modifiedAt };
      }),
      hasMore: read.IsTruncated === 'true',
      next: read.NextContinuationToken,
    }
  );
}

export const readUploadId = (answer: WholeAnswer): string | undefined =>
  uploadShape.safeParse(readXml(answer)).data?.InitiateMultipartUploadResult.UploadId;

function readXml({ bytes, isCut }: WholeAnswer): unknown {
  const document = bytes.toString('utf8');
  if (isCut || !document.trimStart().startsWith('<') || document.includes('<!')) return undefined;
  try {
    return parseXML(document);
  } catch {
    return undefined;
  }
}
