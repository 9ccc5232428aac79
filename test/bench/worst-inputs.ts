// The worst inputs that were found, one for each parser of the main threads, at the bound that the parser has: of a
// tenant (specs, annotations, Secrets), an export API (answers), a site (its home page) and the API server (objects).

import { longestBundleJson, parsePublishedBundle, parseServedBundle } from '#bundle/published-bundle.ts';
import { membersOf, readIssuedLink, readJobId, readJobReport } from '#export-api/job-answers.ts';
import { longestAnswerBytes } from '#export-api/refusals.ts';
import { isCostly, splitList } from '#operator/kube/transport/bounded-json.ts';
import { readPublished } from '#operator/loop/publish/found-outputs.ts';
import { readSchedule } from '#operator/reconcile/schedule.ts';
import { parseStaticExport } from '#operator/staticexport/parse.ts';
import { createLogger } from '#platform/runtime/logger.ts';
import { readJson } from '#platform/wire/json-text.ts';
import { Link } from '#platform/wire/link.ts';
import { printable } from '#platform/wire/printable-text.ts';

export interface Prepared {
  readonly bytes: number;
  readonly name: string;
  readonly read: () => unknown;
}

export interface WorstInput {
  readonly name: string;
  /** Makes the input, which is not measured. */
  readonly prepare: () => Prepared;
}

const mebibyte = 1024 * 1024;

/** An object of as many members as fit. */
function manyMembers(bytes: number): string {
  const members = Array.from(
    { length: Math.floor(bytes / 11) },
    (_, at) => `"${at.toString(36).padStart(5, 'a')}":0`,
  );
  return `{${members.join(',')}}`;
}

function nested(bytes: number): string {
  const depth = Math.floor(bytes / 2);
  return `${'['.repeat(depth)}${']'.repeat(depth)}`;
}

function worst(name: string, input: () => string, read: (text: string) => unknown): WorstInput {
  return {
    name,
    prepare: () => {
      const text = input();
      return { name, bytes: Buffer.byteLength(text), read: () => read(text) };
    },
  };
}

/** As the transport and the watch read an object. */
function unlessCostly(text: string): unknown {
  return isCostly(text) ? undefined : JSON.parse(text);
}

const published = (more: string): string =>
  `{"version":"v","jobId":"j","bundleUrl":"https://a.example/","issuedAt":"2026-01-31T12:00:00Z","expiresAt":"2026-01-31T12:00:00Z"${more}}`;

const spec = { domain: 'docs.example.com', api: { keySecretRef: { name: 'key' } } };

/** All texts as long as the CRD lets them be. */
function longestStatus(): object {
  const long = (length: number) => 'x'.repeat(length);
  const version = {
    version: long(63),
    digest: long(64),
    jobId: long(512),
    inputHash: long(64),
    baseUrl: long(2048),
  };
  const condition = {
    type: long(316),
    status: 'True',
    lastTransitionTime: '2026-01-31T12:00:00Z',
    reason: long(1024),
    message: long(32_768),
  };
  return {
    conditions: Array.from({ length: 32 }, () => condition),
    history: Array.from({ length: 64 }, () => version),
    job: { id: 7 },
    targets: Array.from({ length: 16 }, () => ({
      target: long(640),
      synced: true,
      reason: 'x',
      message: long(512),
    })),
  };
}

const answer = longestAnswerBytes;

function asSecret(text: string): unknown {
  const metadata = { namespace: 'n', name: 'n', uid: 'u', resourceVersion: '1' };
  return readPublished({
    metadata: { ...metadata, annotations: {}, labels: {}, ownerReferences: [] },
    data: { 'bundle.json': Buffer.from(text) },
  });
}

function unlessRefused(text: string): unknown {
  try {
    return parseServedBundle(text);
  } catch {
    return undefined;
  }
}

export const worstInputs: readonly WorstInput[] = [
  ...[
    '59 23 8-31 * +0#1,1#1,2#1,3#1,4#1,5#1,6#1',
    '59 23 1-28 * +0#5,1#5,2#5,3#5,4#5,5#5,6#5',
    '0 0 10W * +0',
    '* * 1-20 * +5#L',
    '0 0 31 2 *',
    '0 0 29 2 +1',
  ].map((pattern) =>
    worst(
      `schedule ${pattern}`,
      () => pattern,
      (text) => readSchedule(text, 'America/St_Johns'),
    ),
  ),
  worst(
    'answer of the export API: members',
    () => manyMembers(answer),
    (text) => readJobReport(readJson(text)),
  ),
  worst(
    'answer of the export API: nesting',
    () => nested(answer),
    (text) => readJobReport(readJson(text)),
  ),
  worst(
    'answer of the export API: a status of members',
    () => `{"status":${manyMembers(answer - 20)}}`,
    (text) => readJobReport(readJson(text)),
  ),
  worst(
    'answer of the export API: a job id',
    () => `{"jobId":"${'\u202e'.repeat(answer / 3)}"}`,
    (text) => readJobId(readJson(text), undefined),
  ),
  worst(
    'answer of the export API: a link',
    () => `{"bundleUrl":"https://a.example/?${'&a=%41'.repeat(answer / 6 - 9)}"}`,
    (text) => readIssuedLink(readJson(text), undefined)?.link.signedLifetime(),
  ),
  worst(
    'members of an answer',
    () => manyMembers(answer),
    (text) => membersOf(readJson(text)),
  ),
  worst(
    'output Secret: as long as it may be, of members',
    () => published(`,${manyMembers(longestBundleJson - 200).slice(1, -1)}`),
    asSecret,
  ),
  worst(
    'output Secret: longer than it may be',
    () => published(`,${manyMembers(mebibyte - 200).slice(1, -1)}`),
    asSecret,
  ),
  worst(
    'bundle.json: a link',
    () => published('').replace('a.example/', `a.example/?${'&a=%41'.repeat(longestBundleJson / 6 - 100)}`),
    (text) => parsePublishedBundle(text).link?.url.signedLifetime(),
  ),
  worst(
    'bundle.json: nesting',
    () => published(`,"x":${nested(longestBundleJson - 200)}`),
    parseServedBundle,
  ),
  worst(
    'bundle.json: an instant',
    () =>
      published('').replace(
        '2026-01-31T12:00:00Z',
        `2026-01-31T12:00:00.${'0'.repeat(longestBundleJson - 300)}x`,
      ),
    unlessRefused,
  ),
  worst(
    'a link by itself',
    () => `https://a.example/${'../'.repeat(mebibyte / 3)}`,
    (text) => Link.parse(text),
  ),
  worst(
    'status with all that its schema allows, and a wrong field',
    () => JSON.stringify(longestStatus()),
    (text) => parseStaticExport({ spec, status: JSON.parse(text) }),
  ),
  worst('Kubernetes object of 1.5 MiB: members', () => manyMembers(1.5 * mebibyte), unlessCostly),
  worst('Kubernetes object of 1.5 MiB: nesting', () => nested(1.5 * mebibyte), unlessCostly),
  worst(
    'Kubernetes object of 1.5 MiB: as many members as are parsed',
    () => `[${manyMembers(24_000 * 11)},"${'x'.repeat(1.2 * mebibyte)}"]`,
    unlessCostly,
  ),
  worst(
    'Kubernetes object of 1.5 MiB: as deep as is parsed',
    () => `[${nested(98_000)},"${'x'.repeat(1.4 * mebibyte)}"]`,
    unlessCostly,
  ),
  worst(
    'Kubernetes object of 1.5 MiB: escapes',
    () => JSON.stringify({ text: '\\'.repeat(0.7 * mebibyte) }),
    unlessCostly,
  ),
  worst(
    'page of a list, coming apart: 4 MiB of members',
    () =>
      `{"items":[${Array(4)
        .fill(manyMembers(mebibyte - 20))
        .join()}]}`,
    (text) => splitList(text),
  ),
  worst(
    'log line with a foreign text',
    () => '\u202e'.repeat(mebibyte / 3),
    (text) => createLogger('info', () => {}).info({ text, more: [text] }, text),
  ),
  worst(
    'text that is shown',
    () => '\u202e'.repeat(mebibyte / 3),
    (text) => printable(text),
  ),
];
