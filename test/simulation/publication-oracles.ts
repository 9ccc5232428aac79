// The rules of publications: only complete exports that passed their promotion gates, never an older version, one
// version for one content, in the operator's own outputs. Owns its memory of publications; changes nothing.

import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { type PublishedBundle, parsePublishedBundle } from '#bundle/published-bundle.ts';
import { annotations } from '#operator/staticexport/names.ts';
import { parseStaticExport, parseStatus } from '#operator/staticexport/parse.ts';
import type { ConfigMapObject, StaticExportObject } from '#platform/wire/cluster.ts';
import { outputName, resource, type Simulation, type Step } from './simulation.ts';

const outputId = `${resource.namespace}/${outputName}`;
/** The data of a foreign object with the output's name. */
export const foreignData = { theirs: 'keep out' };
const usualShrinkPercent = 50;

export class PublicationOracles {
  readonly #simulation: Simulation;
  #last: PublishedBundle | undefined;
  #outputSeen: unknown;
  #configMap: ConfigMapObject | undefined;
  readonly #superseded = new Set<string>();

  constructor(simulation: Simulation) {
    this.#simulation = simulation;
  }

  versions(): number {
    return this.#superseded.size + 1;
  }

  /** Another resource of the same name: nothing of the old one binds it. */
  startOver(): void {
    this.#last = undefined;
    this.#superseded.clear();
  }

  check({ before }: Step): void {
    this.#checkConfigMap();
    const output = this.#simulation.output();
    const text = output?.['bundle.json'];
    if (text === undefined || (output === this.#outputSeen && this.#last !== undefined)) return;
    this.#outputSeen = output;
    const published = parsePublishedBundle(text);
    const { vendor, mirror } = this.#simulation;
    const truth = mirror.repair(
      published.repair,
      vendor.inspectionOf(published.jobId),
      published.repairRevision,
    );
    assert.equal(published.digest, truth.digest, 'published digest is not that of its job');
    assert.equal(output?.['version'], published.version, 'the copies differ from bundle.json');
    this.#checkBasePath(published);
    if (this.#last !== undefined && published.version !== this.#last.version) {
      this.#superseded.add(this.#last.version);
      this.#checkPromotion(published, this.#last, before);
    }
    this.#last = published;
  }

  /** A server that is told another path than the pages were built for shows a blank site. */
  #checkBasePath({ jobId, digest, basePath }: PublishedBundle): void {
    const sent = this.#simulation.vendor.basePaths.get(jobId);
    // The same content was published of a job that named its path.
    const kept = this.#last?.digest === digest ? this.#last?.basePath : undefined;
    assert.equal(basePath, sent ?? kept, 'the base path is not that of the job');
  }

  /** Rules 4, 2: no promotion past suspension, pins and promotion gates, no rollback, and no second version of a content. */
  #checkPromotion(
    published: PublishedBundle,
    last: PublishedBundle,
    before: StaticExportObject | undefined,
  ): void {
    const { spec } = parseStaticExport({ spec: before?.spec, status: {} });
    assert.notEqual(spec?.suspend, true, 'promoted while suspended');
    if (spec?.pin !== undefined) {
      const isPinned = spec.pin.version === published.version || spec.pin.jobId === published.jobId;
      assert.ok(isPinned, 'promoted past a pin');
      return;
    }
    checkRejected(published, before);
    assert.ok(!this.#superseded.has(published.version), 'rolled back to an older version');
    assert.notEqual(published.digest, last.digest, 'the same content was promoted');
    if (before?.metadata.annotations[annotations.promote] === published.version) return;
    assert.notEqual(spec?.promotion?.mode, 'Manual', 'promoted without the required manual promotion');
    this.#checkShrinking(published, last, before);
  }

  /** The promotion gate compares with the version published by status. */
  #checkShrinking({ pages = 0 }: PublishedBundle, last: PublishedBundle, before?: StaticExportObject): void {
    const { spec, status } = parseStaticExport({ spec: before?.spec, status: before?.status ?? {} });
    if (status.active?.version !== last.version) return;
    const percent = spec?.promotion?.maxShrinkPercent ?? usualShrinkPercent;
    const least = ((last.pages ?? 0) * (100 - percent)) / 100;
    assert.ok(pages >= least, `promoted past its promotion gate: ${pages} pages after ${last.pages ?? 0}`);
  }

  /** Rule 2: a client that watches the ConfigMap receives new content only. */
  #checkConfigMap(): void {
    const found = this.#simulation.cluster.configMaps.get(outputId);
    const before = this.#configMap;
    this.#configMap = found;
    if (found === undefined || before === undefined || found === before) return;
    if (found.metadata.uid !== before.metadata.uid || isDeepStrictEqual(found.data, before.data)) return;
    // A copy was made later.
    if (found.data['ref'] !== before.data['ref']) return;
    assert.notEqual(
      found.data['version'],
      before.data['version'],
      'the ConfigMap changed without new content',
    );
  }
}

/** A rejected candidate is not published, nor its content while the rejection holds. */
function checkRejected({ version, digest }: PublishedBundle, before: StaticExportObject | undefined): void {
  if (before === undefined) return;
  const { annotations: found, generation } = before.metadata;
  assert.notEqual(found[annotations.reject], version, 'a rejected candidate was published');
  const { rejected, lastHandledRequest } = parseStatus(before.status);
  if (rejected?.generation !== generation || rejected?.request !== lastHandledRequest) return;
  const isRejected = rejected?.versions.some((one) => one.digest === digest);
  assert.ok(isRejected !== true, 'the content of a rejected candidate was published');
}

/** The reported status of a job is one that the vendor reported. */
export function checkJobShown(simulation: Simulation): void {
  const { job } = parseStatus(simulation.object()?.status);
  if (job === undefined) return;
  const { vendor } = simulation;
  const said = vendor.said.get(job.id);
  if (job.state !== undefined) assert.ok(said?.has(job.state), `a job is shown as ${job.state}, unsaid`);
  if (job.verdict === 'JobFailed' && job.message !== 'JobLost') {
    assert.ok(said?.has('failed'), 'a job that did not fail is called failed');
  }
}
