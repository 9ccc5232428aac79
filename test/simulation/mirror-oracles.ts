// The rules of mirrors: a required copy is there before its version is published, a published reference gives the
// published content, no link where none is wanted, and nothing that the resource lists is deleted. Changes nothing.

import assert from 'node:assert/strict';
import { type PublishedBundle, parsePublishedBundle } from '#bundle/published-bundle.ts';
import { parseStaticExport, parseStatus } from '#operator/staticexport/parse.ts';
import type { Spec } from '#operator/staticexport/schema.ts';
import type { StaticExportObject } from '#platform/wire/cluster.ts';
import { readInstant } from '#platform/wire/instant.ts';
import type { Simulation, Step } from './simulation.ts';

/** A look comes once a day, up to a tenth earlier. */
const earliestLookMs = 0.9 * 24 * 3_600_000;

/** When the next look at the published copy may come, epoch ms; never without a copy. */
export function earliestLook(object: StaticExportObject | undefined): number {
  const seenAt = readInstant(parseStatus(object?.status).active?.mirrorCheckTime);
  return seenAt === undefined ? Number.POSITIVE_INFINITY : seenAt + earliestLookMs;
}

/** A link leads to what the export API made, before its repair. */
export const wantsNoLink = ({ output, transform }: Spec): boolean =>
  output?.link === 'Never' || transform !== undefined;
const linkShown = 'a link is published although the spec wants none';

export class MirrorOracles {
  readonly #simulation: Simulation;
  #version: string | undefined;
  #removed: number;

  constructor(simulation: Simulation) {
    this.#simulation = simulation;
    this.#removed = simulation.mirror.removed.length;
    this.#version = this.#published()?.version;
  }

  /** @param isQuiet no fault and no disturbance for long enough that every rule must hold */
  check(step: Step, isQuiet: boolean): void {
    const { mirror } = this.#simulation;
    if (mirror.shape === undefined) return;
    const published = this.#published();
    if (published !== undefined) this.#checkPublished(published, step);
    this.#checkRemoved(step, published);
    if (isQuiet) this.#checkLink(published);
  }

  #checkPublished({ version, digest, ref, link }: PublishedBundle, { before }: Step): void {
    const { mirror } = this.#simulation;
    if (ref !== undefined) {
      assert.ok(ref.endsWith(`@sha256:${digest}`), 'a reference of other content is published');
      assert.ok(mirror.known.has(ref), 'a reference is published that no copy ever had');
    }
    if (version === this.#version) return;
    this.#version = version;
    // A stale read may have missed an edit of the mirror.
    const specs = [before, this.#simulation.object()].map((one) => one && parseStaticExport(one).spec);
    const isRequired = specs.every(
      (spec) => spec?.mirror !== undefined && spec.mirror.policy !== 'BestEffort',
    );
    assert.ok(!isRequired || ref !== undefined, 'a version is published before its required copy');
    const isLinkless = specs.every((spec) => spec !== undefined && wantsNoLink(spec));
    assert.ok(!isLinkless || link === undefined, linkShown);
  }

  #checkRemoved({ before }: Step, published: PublishedBundle | undefined): void {
    const { removed } = this.#simulation.mirror;
    const fresh = removed.slice(this.#removed);
    this.#removed = removed.length;
    if (fresh.length === 0) return;
    const { active, history = [], candidate } = parseStatus(before?.status);
    const listed = [active, candidate, published, ...history].map((one) => one?.digest);
    for (const digest of fresh) assert.ok(!listed.includes(digest), 'a copy that is listed was deleted');
  }

  /** No link is published while the copy is there and the spec wants none. */
  #checkLink(published: PublishedBundle | undefined): void {
    const object = this.#simulation.object();
    const { spec, status } = object === undefined ? {} : parseStaticExport(object);
    const isCopied = status?.conditions?.some(
      ({ type, reason }) => type === 'Mirrored' && reason === 'Copied',
    );
    if (spec === undefined || spec.suspend === true || !wantsNoLink(spec) || isCopied !== true) return;
    assert.equal(published?.link, undefined, linkShown);
  }

  /** After a calm time the published version has a copy. */
  checkSettled(): void {
    const { mirror, status } = { mirror: this.#simulation.mirror, status: this.#simulation.status() };
    if (mirror.shape === undefined) return;
    assert.equal(
      this.#simulation.condition('Mirrored'),
      'True/Copied',
      `not copied after calm: ${JSON.stringify(status.failures)}`,
    );
    const ref = this.#published()?.ref ?? '';
    assert.ok(mirror.copies.has(ref), 'the published copy is not in the mirror');
  }

  #published(): PublishedBundle | undefined {
    const text = this.#simulation.output()?.['bundle.json'];
    return text === undefined ? undefined : parsePublishedBundle(text);
  }
}
