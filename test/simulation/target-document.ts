// A foreign document that a resource writes its version into: the spec that names it, its edits, and what must be
// true of it after every reconcile. Uses no randomness; scenarios say when.

import assert from 'node:assert/strict';
import { parse } from 'yaml';
import { decode } from './fake-cluster.ts';
import { isLinkless, type MirrorShape } from './fake-mirror.ts';
import type { Simulation } from './simulation.ts';

const key = { namespace: 'apps', name: 'docs-values' };
const dataKey = 'values.yaml';
const targetName = 'argo';
/** Grants the consent to the simulation's resource. */
const consent = { 'staticexport.dev/allow-from': 'docs/site' };
/** The document as its owner writes it. */
export const ownText = '# the site\nreplicas: 2\nstaticExport:\n  enabled: false\n';

export type TargetKind = 'ConfigMap' | 'Secret';

/** `spec.targets` for it; a Secret also receives the link if there is one, and with a mirror all receive its reference. */
export function targetsOf(kind: TargetKind, mirror: MirrorShape | undefined): readonly unknown[] {
  const hasLink = kind === 'Secret' && !isLinkless(mirror);
  const write = ['version', ...(hasLink ? ['bundleUrl'] : []), ...(mirror ? ['ref'] : [])];
  return [{ name: targetName, type: 'Values', values: { kind, ...key, key: dataKey }, write }];
}

/** Writes the document as its owner does, over its present content. */
export function ownDocument(
  simulation: Simulation,
  kind: TargetKind,
  text = ownText,
  isConsenting = true,
): void {
  const annotations = isConsenting ? consent : {};
  if (kind === 'ConfigMap') simulation.cluster.putConfigMap(key, { [dataKey]: text }, annotations);
  else simulation.cluster.putSecret(key, { [dataKey]: text }, annotations);
}

export function documentText(simulation: Simulation): string | undefined {
  const id = `${key.namespace}/${key.name}`;
  const secret = simulation.cluster.secrets.get(id);
  const data = secret === undefined ? simulation.cluster.configMaps.get(id)?.data : decode(secret.data);
  return data?.[dataKey];
}

/** The last text and output that agreed. */
const agreed = new WeakMap<Simulation, readonly [text: string, output: object]>();

interface Values {
  readonly version?: unknown;
  readonly bundleUrl?: unknown;
  readonly ref?: unknown;
}

const values = new Map<string, Values>();
/** A link that the storage did not issue. */
const someLink = 'https://storage.test/any';

/** The values' group; parsed once for all links, which differ only in their text. */
function readValues(text: string, link: string): { readonly staticExport: Values } {
  const masked = link === '' ? text : text.replaceAll(link, () => someLink);
  const known = values.get(masked) ?? parse(masked).staticExport;
  if (values.size > 1000) values.clear();
  values.set(masked, known);
  return { staticExport: known.bundleUrl === someLink ? { ...known, bundleUrl: link } : known };
}

/** Status describes the target correctly: with `synced` the document holds the version. */
export function checkTarget(simulation: Simulation): void {
  const target = simulation.status().targets?.find(({ name }) => name === targetName);
  const output = simulation.output();
  if (target?.synced !== true || output === undefined) return;
  const text = documentText(simulation) ?? '';
  const [lastText, lastOutput] = agreed.get(simulation) ?? [];
  if (text === lastText && output === lastOutput) return;
  const { staticExport } = readValues(text, output['bundleUrl'] ?? '');
  assert.equal(staticExport.version, output['version'], 'a target that is synced holds another version');
  if (staticExport.bundleUrl !== undefined) {
    assert.equal(staticExport.bundleUrl, output['bundleUrl'], 'a target that is synced holds another link');
  }
  if (simulation.writesRef) {
    assert.equal(staticExport.ref, output['ref'], 'a target that is synced holds another reference');
  }
  assert.ok(text.startsWith('# the site\nreplicas: 2\n'), 'more than the leaves of a target was changed');
  agreed.set(simulation, [text, output]);
}
