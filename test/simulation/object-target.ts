// Another owner's object that a resource writes its version into: the spec that names it, the owner that applies its
// manifest again, and the controller that rolls the values out on virtual time. Uses no randomness; troubles say when.

import { annotations } from '#operator/staticexport/names.ts';
import type { KeyName } from '#operator/targets/target-plan.ts';
import type { Clock } from '#platform/runtime/clock.ts';
import type { ForeignKind, ForeignObject } from '#platform/wire/cluster.ts';
import type { FakeObjects } from './fake-objects.ts';
import { rolloutStatus, type Stage } from './object-rollout.ts';

type Fields = Record<string, unknown>;

/** Each shape of an object that targets write. */
export type ObjectShape =
  | 'HelmRelease'
  | 'Application'
  | 'Application with sources'
  | 'Application with text'
  | 'Application without automated sync'
  | 'Deployment'
  | 'StatefulSet'
  | 'DaemonSet';

/** Values that a controller rolls out. */
interface Rolling {
  readonly spec: string;
  readonly uid: string;
  readonly since: number;
  /** `undefined`: Argo CD waits for a sync. */
  readonly syncedAt?: number | undefined;
}

export const objectKey = { namespace: 'apps', name: 'docs' } as const;
export const objectTargetName = 'object';
const parentKey = { namespace: 'argocd', name: 'root' } as const;
const repoURL = 'https://git.example.com/site.git';

export class ObjectTarget {
  readonly shape: ObjectShape;
  /** Its target also writes the reference of the copy. */
  readonly #writesRef: boolean;
  readonly #objects: FakeObjects;
  readonly #clock: Clock;
  isConsenting = true;
  isPaused = false;
  /** Its source is not Helm's, or its values are not a map. */
  isForeign = false;
  isReordered = false;
  /** The version that the owner's manifest declares. */
  declared: string | undefined;
  /** The owner declares the version, and leaves it to others. */
  isIgnored = false;
  /** Another client removes or replaces the version this long after a write. */
  revertsAfterMs: number | undefined;
  rolloutMs = 60_000;
  ending: 'completes' | 'fails' | 'never' = 'completes';
  /** The version that is rolled out. */
  live: string | undefined;
  /** The values that the object holds are rolled out. */
  isComplete = false;
  #deployed: string | undefined;
  #rolling: Rolling | undefined;
  #playedAt = 0;

  constructor(shape: ObjectShape, writesRef: boolean, objects: FakeObjects, clock: Clock) {
    this.shape = shape;
    this.#writesRef = writesRef;
    this.#objects = objects;
    this.#clock = clock;
    this.own();
  }

  get kind(): Exclude<ForeignKind, 'ApplicationSet'> {
    return this.shape.startsWith('Application') ? 'Application' : this.#plainKind();
  }

  #plainKind() {
    const kinds = ['HelmRelease', 'Deployment', 'StatefulSet', 'DaemonSet'] as const;
    return kinds.find((one) => one === this.shape) ?? 'Application';
  }

  /** An entry of `spec.targets`. */
  specTarget(): object {
    const { kind } = this;
    const write = this.#writesRef ? { write: ['version', 'ref'] } : {};
    const common = { name: objectTargetName, ...write };
    if (kind === 'HelmRelease') return { ...common, type: kind, helmRelease: objectKey };
    if (kind !== 'Application') return { ...common, type: 'Workload', workload: { kind, ...objectKey } };
    const source = this.shape === 'Application with sources' ? { source: { chart: 'site' } } : {};
    const sync = this.#isAutomated() ? 'Never' : 'Request';
    return { ...common, type: kind, application: { ...objectKey, ...source, sync } };
  }

  /** Writes the object as its owner's manifest has it; creates it if it is absent. */
  own(): void {
    const { kind } = this;
    if (this.#objects.read(kind, objectKey) === undefined) this.live = undefined;
    this.#objects.put(kind, objectKey, this.#manifest(), this.#metadata(), this.#manager());
    if (kind === 'Application') this.#ownParent();
  }

  /** Everything is as at the start, and the version is rolled out again. */
  restore(): void {
    const usual = { isConsenting: true, isPaused: false, isForeign: false, isReordered: false };
    const undone = { ...usual, declared: undefined, isIgnored: false, revertsAfterMs: undefined };
    Object.assign(this, { ...undone, rolloutMs: 60_000, ending: 'completes' });
    this.own();
  }

  /** Removes it and creates another of its name. */
  replace(): void {
    this.#objects.remove(this.kind, objectKey);
    this.own();
  }

  /** What owner and controller did since the last time. @returns true if the object changed */
  play(): boolean {
    const found = this.#objects.read(this.kind, objectKey);
    const now = this.#clock.monotonic();
    const since = this.#playedAt;
    this.#playedAt = now;
    if (found === undefined) return false;
    const isReverted = this.#revert(found, now);
    const isApplied = this.#isApplying() && this.#applyAgain();
    return this.#rollOut(since, now) || isReverted || isApplied;
  }

  read(): ForeignObject['content'] | undefined {
    return this.#objects.read(this.kind, objectKey)?.content;
  }

  /** Only owners that are controllers apply again; and one that ignores the key keeps the value that it finds. */
  #isApplying(): boolean {
    return this.#manager() !== 'kubectl-edit' && !this.isIgnored;
  }

  #applyAgain(): boolean {
    return this.#objects.drift(this.kind, objectKey, this.#manifest(), this.#metadata(), this.#manager());
  }

  #revert(found: ForeignObject, now: number): boolean {
    const { revertsAfterMs } = this;
    const rolling = this.#rolling;
    if (revertsAfterMs === undefined || versionIn(this.shape, found.content) === undefined) return false;
    if (rolling?.spec !== specOf(found) || now - rolling.since < revertsAfterMs) return false;
    this.#objects.overwrite(this.kind, objectKey, this.#manifest()['spec']);
    return true;
  }

  /** @returns true if the status changed */
  #rollOut(since: number, now: number): boolean {
    const found = this.#objects.read(this.kind, objectKey);
    if (found === undefined) return false;
    const { content, metadata } = found;
    const [spec, { uid }] = [specOf(found), metadata];
    const before = this.#rolling;
    const isSame = before?.spec === spec && before.uid === uid;
    const begun = isSame ? before : { spec, uid, since };
    const syncedAt = this.#isAutomated() ? begun.since : undefined;
    const requestedAt = content['operation'] === undefined ? begun.syncedAt : since;
    this.#rolling = { ...begun, syncedAt: syncedAt ?? requestedAt };
    this.#objects.dropField(this.kind, objectKey, 'operation');
    const stage = this.#stageAt(now, this.#rolling);
    if (stage === 'complete') this.live = versionIn(this.shape, content);
    this.isComplete = stage === 'complete';
    if (this.isComplete) this.#deployed = spec;
    this.#objects.merge(this.kind, objectKey, { status: rolloutStatus(this.shape, found, stage) });
    return JSON.stringify(content) !== JSON.stringify(this.read());
  }

  #stageAt(now: number, { spec, since, syncedAt }: Rolling): Stage {
    if (now - since < 2000 || this.isPaused) return 'unseen';
    // Argo CD finds an Application in sync that has the values of its last sync again.
    if (syncedAt === undefined) return spec === this.#deployed ? 'complete' : 'unsynced';
    if (now - syncedAt < this.rolloutMs || this.ending === 'never') return 'rolling';
    return this.ending === 'fails' ? 'failed' : 'complete';
  }

  #isAutomated(): boolean {
    return this.shape !== 'Application without automated sync';
  }

  /** A whole list and a text have one owner. A controller that applied them would revert every write. */
  #manager(): string {
    if (this.shape === 'Application with sources' || this.shape === 'Application with text') {
      return 'kubectl-edit';
    }
    return this.kind === 'Application' ? 'argocd-controller' : 'kustomize-controller';
  }

  #metadata() {
    const tracking =
      this.#manager() === 'argocd-controller'
        ? { 'argocd.argoproj.io/tracking-id': 'argocd_root:argoproj.io/Application:apps/docs' }
        : {};
    const consent = this.isConsenting ? { [annotations.allowFrom]: 'docs/site' } : {};
    return { annotations: { ...tracking, ...consent } };
  }

  #ownParent(): void {
    const jqPathExpressions = ['.spec.source.helm.valuesObject.staticExport'];
    const ignoring = {
      syncPolicy: { syncOptions: ['RespectIgnoreDifferences=true'] },
      ignoreDifferences: [{ group: 'argoproj.io', kind: 'Application', jqPathExpressions }],
    };
    this.#objects.put('Application', parentKey, { spec: this.isIgnored ? ignoring : { project: 'root' } });
  }

  #manifest(): Fields {
    const { kind } = this;
    const group = this.declared === undefined ? {} : { staticExport: { version: this.declared } };
    const values = this.isForeign ? ['a list'] : { replicas: 2, ...group };
    if (kind === 'HelmRelease') return { spec: { values, suspend: this.isPaused } };
    if (kind === 'Application') return { spec: this.#applicationSpec(values) };
    const pinned =
      this.declared === undefined ? { team: 'docs' } : { team: 'docs', [annotations.version]: this.declared };
    const paused = kind === 'Deployment' ? { paused: this.isPaused } : {};
    return { spec: { replicas: 2, ...paused, template: { metadata: { annotations: pinned } } } };
  }

  #applicationSpec(values: unknown): Fields {
    const synced = this.#isAutomated() ? { syncPolicy: { automated: { selfHeal: true } } } : {};
    const text = `# the site\nreplicas: 2\n${this.declared === undefined ? '' : `staticExport:\n  version: "${this.declared}"\n`}`;
    const helm =
      this.shape === 'Application with text'
        ? { helm: { values: this.isForeign ? '- a list' : text } }
        : { helm: { valuesObject: values } };
    const chart = { repoURL, chart: 'site', ...helm };
    if (this.shape !== 'Application with sources') return { ...synced, source: chart };
    const files = { repoURL, ref: 'values' };
    return { ...synced, sources: this.isReordered ? [files, chart] : [chart, files] };
  }
}

/** Where the keys of a shape are, as pointers; with an item of a list for any index. */
export function isOwnPath(shape: ObjectShape, path: string): boolean {
  const leaf = '(version|digest|ref)';
  if (shape === 'HelmRelease') return new RegExp(`^/spec/values/staticExport/${leaf}$`).test(path);
  if (!shape.startsWith('Application')) {
    return new RegExp(`^/spec/template/metadata/annotations/staticexport\\.dev/${leaf}$`).test(path);
  }
  if (path.startsWith('/operation/')) return shape === 'Application without automated sync';
  if (shape === 'Application with text') return path === '/spec/source/helm/values';
  const source = shape === 'Application with sources' ? 'sources/\\d+' : 'source';
  return new RegExp(`^/spec/${source}/helm/valuesObject/staticExport/${leaf}$`).test(path);
}

/** The version that an object holds. */
export const versionIn = (shape: ObjectShape, content: ForeignObject['content']): string | undefined =>
  keyIn(shape, content, 'version');

/** One of the keys that a target writes. */
export function keyIn(
  shape: ObjectShape,
  content: ForeignObject['content'],
  name: KeyName,
): string | undefined {
  const text = JSON.stringify(content['spec'] ?? {});
  const pattern =
    shape === 'Application with text'
      ? `staticExport:\\\\n(?:\\s+\\w+: \\\\"[^"\\\\]+\\\\"\\\\n)*\\s+${name}: \\\\"([^"\\\\]+)`
      : shape === 'HelmRelease' || shape.startsWith('Application')
        ? `"staticExport":\\{[^}]*"${name}":"([^"]+)"`
        : `"staticexport\\.dev/${name}":"([^"]+)"`;
  return new RegExp(pattern).exec(text)?.[1];
}

const specOf = ({ content }: ForeignObject): string => JSON.stringify(content['spec']);
