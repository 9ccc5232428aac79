// What a push sends to the service git-receive-pack, and what the report of it means (gitprotocol-pack): the branch was
// updated, another client was faster, or the host declined it. In place of the git client's push, which reads each folder
// of the repository and stops at names that it does not like. Pure. Refuses to take a race for a refusal: only a refusal
// stops the attempts.

import { PublishableError } from '#platform/wire/publishable-error.ts';
import { declined, type GitFault, quoteRemote } from './git-fault.ts';

/** What a branch becomes. */
export interface BranchUpdate {
  readonly ref: string;
  /** Where the branch is; `undefined` where the push makes it. */
  readonly from: string | undefined;
  readonly to: string;
}

/** As the server names them before the push. */
export type PushCapabilities = Readonly<Record<string, unknown>>;

export interface PushReport {
  /** Why the server did not store the pack; `undefined` where it did. */
  readonly unpackError: string | undefined;
  /** Why it did not update the branch. */
  readonly refusals: readonly string[];
  /** What the host's hooks printed. */
  readonly lines: readonly string[];
}

/** `behind`: the branch moved, nothing was pushed. `declined`: the host refused it, for this reason. */
export type PushOutcome =
  | { readonly outcome: 'pushed' }
  | { readonly outcome: 'behind' }
  | { readonly outcome: 'declined'; readonly fault: GitFault };

const absentOid = '0'.repeat(40);
const usedCapabilities = ['report-status', 'side-band-64k'];

/** @returns the parts of the request's body. A host may refuse a capability that it did not name. */
export function writePushRequest(
  { ref, from = absentOid, to }: BranchUpdate,
  offered: PushCapabilities,
  pack: Uint8Array,
): readonly Uint8Array[] {
  const used = usedCapabilities.filter((name) => name in offered).join(' ');
  const line = Buffer.from(`${from} ${to} ${ref}\0${used}`);
  const length = (line.byteLength + 4).toString(16).padStart(4, '0');
  return [Buffer.concat([Buffer.from(length), line, Buffer.from('0000')]), pack];
}

/** @throws {GitFault} where the host sent no whole report */
export function readPushReport(answer: Buffer, offered: PushCapabilities): PushReport {
  const bands: Record<number, Buffer[]> = { 1: [], 2: [], 3: [] };
  if (!('side-band-64k' in offered)) bands[1]?.push(answer);
  else for (const line of packetLines(answer)) bands[line[0] ?? 0]?.push(line.subarray(1));
  const textOf = (band: number): string => Buffer.concat(bands[band] ?? []).toString();
  const fatal = textOf(3).trim();
  const lines = textOf(2).split(/[\r\n]+/);
  if (fatal !== '') return { unpackError: fatal, refusals: [], lines };
  const [unpack = '', ...updates] = packetLines(Buffer.concat(bands[1] ?? [])).map((line) =>
    line.toString().trimEnd(),
  );
  if (!unpack.startsWith('unpack ')) throw noReport();
  const refusals = updates.flatMap((line) => /^ng \S+ ?(.*)$/.exec(line)?.[1] ?? []);
  if (refusals.length === 0 && !updates.some((line) => line.startsWith('ok '))) throw noReport();
  const unpackError = unpack === 'unpack ok' ? undefined : unpack.slice('unpack '.length);
  return { unpackError, refusals, lines };
}

/** The lines before and after flushes, without their lengths. */
function packetLines(bytes: Buffer): readonly Buffer[] {
  const lines: Buffer[] = [];
  for (let at = 0; at < bytes.byteLength; ) {
    const digits = bytes.toString('latin1', at, at + 4);
    const length = /^[0-9a-f]{4}$/i.test(digits) ? Number.parseInt(digits, 16) : Number.NaN;
    if (length === 0) at += 4;
    else if (length >= 4 && at + length <= bytes.byteLength) {
      lines.push(bytes.subarray(at + 4, at + length));
      at += length;
    } else throw noReport();
  }
  return lines;
}

const noReport = (): GitFault =>
  new PublishableError('Unreachable', 'The git host did not report whether it took the push.', {
    kind: 'retry',
  });

/** What git answers where another client updated the branch between the lease and the update. */
const raceForm =
  /failed to update ref|cannot lock ref|incorrect old value|reference already exists|fetch first|stale info|is at [0-9a-f]{40} but expected/i;

/** @param push its branch, and whether commits of the branch may be dropped */
export function readPushOutcome(
  { unpackError, refusals, lines }: PushReport,
  { branch, isForced }: { readonly branch: string; readonly isForced: boolean },
): PushOutcome {
  if (unpackError === undefined && refusals.length === 0) return { outcome: 'pushed' };
  const isRace = refusals.some((reason) => raceForm.test(reason));
  if (isRace || (!isForced && refusals.some((reason) => /non-fast-forward/i.test(reason)))) {
    return { outcome: 'behind' };
  }
  if (unpackError !== undefined) {
    const fault = new PublishableError(
      'Unexpected',
      `The git host could not store the commit${quoteRemote([unpackError])}. Check its disk and quota.`,
      { kind: 'retry' },
    );
    return { outcome: 'declined', fault };
  }
  return { outcome: 'declined', fault: declined(branch, [...lines, ...refusals]) };
}
