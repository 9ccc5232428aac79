// The mirror of a simulation: repositories that keep content by digest, and may refuse, hang or lose it. Copying reads the
// vendor's link, and takes time. A repair gives another digest, and its marks stand for what the rules changed. Invariant: a
// reference gives the content that it was made of, or nothing.

import { createHash } from 'node:crypto';
import { refusal } from '#bundle/refusal.ts';
import { stepRevisions } from '#bundle/transform.ts';
import type { MirrorErrorCode } from '#mirror/mirror-error.ts';
import type { CopiedInspection, Inspection, Mirrors, UnusableMirror } from '#operator/loop/ports.ts';
import { revisionOfSteps } from '#operator/staticexport/wanted-transform.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import type { VirtualClock } from '../support/virtual-clock.ts';
import type { FakeVendor } from './fake-vendor.ts';

export const mirrorRepository = 'registry.test/docs/site';
/** `spec.mirror` of the simulations that have one. */
export const mirrorSpec = { oci: { repository: mirrorRepository, secretRef: { name: 'mirror' } } } as const;

/** What a resource asks of its mirror. */
export const mirrorShapes = {
  required: { mirror: mirrorSpec },
  'best-effort': { mirror: { ...mirrorSpec, policy: 'BestEffort' } },
  linkless: { mirror: mirrorSpec, output: { link: 'Never' } },
  repaired: { mirror: mirrorSpec, transform: { repair: { rules: [{ name: 'sitemap' }] } } },
  searched: {
    mirror: mirrorSpec,
    transform: { repair: { rules: [{ name: 'sitemap' }] }, search: 'Enabled' },
  },
  retained: { mirror: { ...mirrorSpec, retention: { unlisted: '2d' } }, output: { link: 'Never' } },
} as const;

/**
 * What a repair by these rules makes of an archive.
 *
 * @param revision of the rules, as `bundle.json` has it
 */
export function repairedBy(
  repair: string | undefined,
  inspection: Inspection,
  revision: string | undefined,
): Inspection {
  if (repair === undefined) return inspection;
  const rules = `${repair} ${revision ?? ''}`;
  const digest = createHash('sha256').update(`${rules} of ${inspection.digest}`).digest('hex');
  return { ...inspection, digest, repaired: repair.split(' ').map((rule) => ({ rule, files: 2 })) };
}

const retentionFailure = { code: 'Denied', message: 'Registry returned 405.', retryAfterMs: undefined };

export type MirrorShape = keyof typeof mirrorShapes;

/** True if the resource wants no link beside the reference. */
export const isLinkless = (shape: MirrorShape | undefined): boolean =>
  shape !== undefined && ('output' in mirrorShapes[shape] || 'transform' in mirrorShapes[shape]);

/** The fields of the spec for a shape; absent ones are named, so that an edit takes them back. */
export function mirrorFields(shape: MirrorShape | undefined): Record<string, unknown> {
  return { mirror: undefined, output: undefined, transform: undefined, ...(shape && mirrorShapes[shape]) };
}

export class FakeMirror {
  readonly #clock: VirtualClock;
  readonly #vendor: FakeVendor;
  /** By reference. */
  readonly copies = new Map<string, Inspection>();
  /** Every reference that was ever given out. */
  readonly known = new Set<string>();
  /** What the resource of the simulation asks for, if it has a mirror. */
  readonly shape: MirrorShape | undefined;
  /** Every call, in order. */
  readonly calls: ('copy' | 'verify' | 'look')[] = [];
  /** Copies that were written, not those that were found. */
  written = 0;
  readonly removed: string[] = [];
  /** While set, every call fails with this code. */
  failing: MirrorErrorCode | undefined;
  isHostAllowed = true;
  repair = repairedBy;
  /** Of the operator that copies now. */
  stepRevisions: Readonly<Record<string, number>> = stepRevisions;
  /** The registry allows no deletes. */
  keepsOldCopies = false;
  /** Of each call. */
  takesMs = 1000;

  constructor(clock: VirtualClock, vendor: FakeVendor, shape?: MirrorShape) {
    this.#clock = clock;
    this.shape = shape;
    this.#vendor = vendor;
  }

  refOf(digest: string, address = `oci://${mirrorRepository}`): string {
    return `${address}@sha256:${digest}`;
  }

  ports(): Mirrors {
    return {
      refuse: () =>
        this.isHostAllowed
          ? undefined
          : { code: 'HostNotAllowed', message: 'Add registry.test.', retryAfterMs: undefined },
      copy: async (link, order, signal, maxBytes): Promise<CopiedInspection | UnusableMirror> => {
        await this.#call('copy', false, signal);
        const failure = this.failing && {
          code: this.failing,
          message: 'The mirror refused.',
          retryAfterMs: undefined,
        };
        if (failure && order.isRequired) return { copy: { kind: 'failed', failure } };
        const inspection = this.repair(
          order.repair,
          await this.#vendor.bundles().inspect(link, signal, maxBytes),
          order.repair && revisionOfSteps(order.repair, this.stepRevisions),
        );
        if (order.expectedDigest !== undefined && order.expectedDigest !== inspection.digest)
          throw refusal('DigestMismatch');
        if (failure) return { ...inspection, copy: { kind: 'failed', failure } };
        const ref = this.refOf(inspection.digest, order.place.address);
        if (!this.copies.has(ref)) this.written += 1;
        this.copies.set(ref, inspection);
        this.known.add(ref);
        return { ...inspection, copy: { kind: 'copied', ref } };
      },
      verify: async (_place, ref, _digest, signal) => {
        await this.#call('verify', true, signal);
        const copy = this.copies.get(ref);
        if (copy === undefined) throw new PublishableError('BlobMissing', 'The mirror has no copy.');
        const { repaired: _repaired, ...found } = copy;
        return found;
      },
      look: async ({ owner, address }, { ref }, { listed, expired }, signal) => {
        await this.#call('look', true, signal);
        if (!owner.isExclusive) return { isThere: this.copies.has(ref), unlisted: [] };
        for (const digest of this.keepsOldCopies ? [] : expired) {
          this.removed.push(digest);
          this.copies.delete(this.refOf(digest, address));
        }
        const here = [...this.copies].filter(([found]) => found.startsWith(`${address}@`));
        const unlisted = here.map(([, { digest }]) => digest);
        return {
          isThere: this.copies.has(ref),
          unlisted: unlisted.filter((digest) => !listed.includes(digest)),
          ...(this.keepsOldCopies && expired.length > 0 && { retentionFailure }),
        };
      },
    };
  }

  async #call(name: 'copy' | 'verify' | 'look', isFatal: boolean, signal: AbortSignal): Promise<void> {
    this.calls.push(name);
    await this.#clock.after(this.takesMs, signal);
    if (this.failing !== undefined && isFatal)
      throw new PublishableError(this.failing, 'The mirror refused.');
  }
}
