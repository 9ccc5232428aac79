// `kit import`: a checked kit into a folder, a store or a mirror. In this order: the whole check of the kit, its series and sequence, the
// bases, every bundle unpacked and proven, the memory of this import, the target. Refuses at the first that fails. Invariant:
// until all of it has passed, the target is as before.

import { resolve } from 'node:path';
import type { StoredBundle } from '#bundle/store/stored-bundle.ts';
import type { KitBundle } from '#mirror/kit/kit-document.ts';
import type { KitErrorCode } from '#mirror/kit/kit-error.ts';
import { type KitHead, kitBlobs } from '#mirror/kit/kit-reader.ts';
import { printable } from '#platform/wire/printable-text.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import type { MirrorValues } from '../bundle/mirrored.ts';
import { commandLimitsOf, type SizeLimits } from '../bundle/reading.ts';
import { CliError } from '../cli-error.ts';
import type { CliContext } from '../context.ts';
import { findBase } from './bases.ts';
import type { KitAnswer } from './documents.ts';
import { folderTarget } from './folder-target.ts';
import {
  onlyTarget,
  readImportState,
  requireNewer,
  requireSeries,
  writeImportState,
} from './import-state.ts';
import type { ImportContext, ImportTarget, Placed, Staged } from './import-target.ts';
import { type ImportedPart, requirePartsPlace, writeParts } from './imported-parts.ts';
import { readVerifyKey, type VerifyKeyValues } from './keys.ts';
import { type OpenKit, openKit } from './kit-file.ts';
import { mirrorTarget } from './mirror-target.ts';
import type { OpenMirror } from './open-mirror.ts';
import { storeTarget } from './store-target.ts';
import { bundleFields, bundleLines, outputFields, partWords } from './summary.ts';
import { checkKit } from './verify.ts';

export interface ImportValues extends SizeLimits, VerifyKeyValues, MirrorValues {
  readonly toFolder: string | undefined;
  readonly toStore: string | undefined;
  readonly to: string | undefined;
  readonly partsTo: string | undefined;
  readonly digest: string | undefined;
  readonly base: readonly string[];
  readonly allowOlder: boolean;
  readonly allowOtherSeries: boolean;
  readonly state: string | undefined;
  readonly replace: boolean;
}

/** @param openMirror of what `--to` names */
export const importKitWith =
  (openMirror: OpenMirror) =>
  async (
    values: ImportValues,
    paths: readonly string[],
    context: CliContext,
  ): Promise<KitAnswer<'ImportedKit'>> => {
    const key = await readVerifyKey(values);
    const kit = await openKit(paths);
    try {
      const head = await checkKit(kit.source, key, context);
      return await importChecked(values, kit, head, openMirror, context);
    } finally {
      context.progress.end();
      await kit.close();
    }
  };

interface ImportedBundle extends Placed {
  readonly bundle: KitBundle;
}

async function importChecked(
  values: ImportValues,
  kit: OpenKit,
  head: KitHead,
  openMirror: OpenMirror,
  context: CliContext,
): Promise<KitAnswer<'ImportedKit'>> {
  const blobs = () => kitBlobs(kit.source, head, 'the kit');
  const target = await openTarget(values, { context, limits: commandLimitsOf(values), blobs }, openMirror);
  const chosen = target === undefined ? [] : chooseBundles(values, head);
  try {
    const statePath = values.state ?? target?.statePath ?? partsState(values);
    const state = statePath === undefined ? undefined : await readImportState(statePath);
    const name = values.state === undefined ? onlyTarget : nameOfTarget(values);
    if (state !== undefined && !values.allowOtherSeries) requireSeries(state, head, name);
    if (state !== undefined && !values.allowOlder) requireNewer(state, head);
    const partsPlace =
      values.partsTo === undefined ? undefined : { folder: values.partsTo, replace: values.replace };
    if (partsPlace !== undefined) await requirePartsPlace(head, partsPlace);
    await target?.prepare();
    const remember = async (): Promise<void> => {
      if (state !== undefined && statePath !== undefined)
        await writeImportState(statePath, state, head, name);
    };
    const bundles =
      target === undefined ? [] : await importBundles(chosen, target, remember, values, context);
    if (target === undefined) await remember();
    const parts = partsPlace === undefined ? [] : await writeParts(head, blobs(), partsPlace, context.signal);
    return resultOf(head, bundles, parts);
  } finally {
    await target?.close();
  }
}

async function openTarget(
  values: ImportValues,
  target: ImportContext,
  openMirror: OpenMirror,
): Promise<ImportTarget | undefined> {
  const { toFolder, toStore, to, replace } = values;
  if (toFolder !== undefined) return folderTarget(toFolder, replace, target);
  if (toStore !== undefined) return storeTarget(toStore, target);
  return to === undefined ? undefined : mirrorTarget(await openMirror(to, values, target.context), target);
}

/** Where one state file has several targets: each by its place, however it is written. */
function nameOfTarget({ to, toFolder, toStore, partsTo, mirrorEndpoint }: ImportValues): string {
  if (to === undefined) return resolve(toFolder ?? toStore ?? partsTo ?? '.');
  const address = to.replace(/^oci:\/\/[^/]+/, (host) => host.toLowerCase().replace(/:443$/, ''));
  return mirrorEndpoint === undefined ? address : `${address} at ${mirrorEndpoint}`;
}

const partsState = ({ partsTo }: ImportValues): string | undefined =>
  partsTo === undefined ? undefined : `${resolve(partsTo)}.kit-imports.json`;

/** @throws {CliError} `BundleNotInKit`, `SeveralBundles` */
function chooseBundles({ digest, toFolder }: ImportValues, { document }: KitHead): readonly KitBundle[] {
  const { bundles } = document;
  const chosen = digest === undefined ? bundles : bundles.filter((one) => one.digest === digest);
  if (chosen.length === 0) {
    const message =
      digest === undefined
        ? 'the kit holds no bundle; import its parts with --parts-to'
        : 'the kit holds no bundle with the digest of --digest; kit inspect lists them';
    throw new CliError('usage', 'BundleNotInKit', message);
  }
  if (toFolder !== undefined && chosen.length > 1) {
    const message = 'the kit holds several bundles, and a folder takes one; name it with --digest';
    throw new CliError('usage', 'SeveralBundles', message, {
      next: chosen.map((one) => `--digest ${one.digest}`),
    });
  }
  return chosen;
}

async function importBundles(
  bundles: readonly KitBundle[],
  target: ImportTarget,
  remember: () => Promise<void>,
  values: ImportValues,
  context: CliContext,
): Promise<readonly ImportedBundle[]> {
  const { progress, signal } = context;
  const bases = new Map<string, StoredBundle>();
  const staged: { readonly bundle: KitBundle; readonly stage: Staged }[] = [];
  try {
    for (const bundle of bundles) {
      if (bundle.kind === 'whole' || bases.has(bundle.baseDigest)) continue;
      bases.set(
        bundle.baseDigest,
        await requireBase(bundle.digest, bundle.baseDigest, target, values, context),
      );
    }
    for (const bundle of bundles) {
      progress.phase('Unpacking the bundle');
      const base = bundle.kind === 'whole' ? undefined : bases.get(bundle.baseDigest);
      staged.push({ bundle, stage: await target.stage(bundle, base) });
    }
    await remember();
    const imported: ImportedBundle[] = [];
    // The first bundle comes last, so that a store serves it.
    for (const { bundle, stage } of staged.toReversed()) {
      signal.throwIfAborted();
      progress.phase('Writing the bundle');
      imported.unshift({ bundle, ...(await stage.place()) });
    }
    return imported;
  } finally {
    for (const { stage } of staged) await stage.discard();
    for (const base of bases.values()) await base.close();
  }
}

/** @throws {KitError} `BaseMissing` */
async function requireBase(
  digest: string,
  baseDigest: string,
  target: ImportTarget,
  values: ImportValues,
  context: CliContext,
): Promise<StoredBundle> {
  const base =
    (await findBase(baseDigest, values.base, values, context)) ?? (await target.findBase(baseDigest));
  if (base !== undefined) return base;
  throw new PublishableError<KitErrorCode>(
    'BaseMissing',
    `the bundle ${digest} is a delta of ${baseDigest}, which is not here`,
    {
      kind: 'refused',
      remedy:
        'Name an archive, a kit or a store that holds the base with --base, or import a kit with the whole bundle.',
    },
  );
}

function resultOf(
  { document }: KitHead,
  bundles: readonly ImportedBundle[],
  parts: readonly ImportedPart[],
): KitAnswer<'ImportedKit'> {
  const { name, sequence } = document;
  return {
    outcome: 'done',
    kind: 'ImportedKit',
    fields: {
      name,
      sequence,
      bundles: bundles.map(({ bundle, ...placed }) => ({ ...bundleFields(bundle), ...placed })),
      parts,
      ...outputFields({ bundles: bundles.map(({ bundle }) => bundle) }),
    },
    lines: [
      `Imported: ${name}, sequence ${sequence}`,
      ...bundles.flatMap(({ bundle, path, ref }) => [
        ...bundleLines(bundle),
        `          in ${printable(path ?? ref ?? '')}`,
      ]),
      ...parts.map(({ kind, path }) => `${partWords[kind]}${printable(path)}`),
    ],
  };
}
