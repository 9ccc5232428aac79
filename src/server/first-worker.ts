// Which thread a server needs first, guessed from its command line, its environment and its disk, so that the thread
// starts before the rest of the program is loaded. Refuses to check or to decide anything else: a wrong guess costs a
// thread that ends unused.

import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { activationFiles } from '#bundle/store/store-layout.ts';
import { isRecord, readJson } from '#platform/wire/json-text.ts';

export interface GivenValues {
  /** Without the program. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * In the order of the sources: disk, peers, mirror, link.
 *
 * @returns `undefined` where no store is named, because such a server serves nothing
 */
export async function firstWorker<Program>(
  given: GivenValues,
  { check, bundle, mirror }: Readonly<Record<'check' | 'bundle' | 'mirror', Program>>,
): Promise<Program | undefined> {
  const store = writtenValue('store', given);
  if (store === undefined) return undefined;
  if (activationFiles(store).some((file) => existsSync(file))) return check;
  if (writtenValue('peers', given) !== undefined) return bundle;
  const bundleFile = writtenValue('bundle-file', given);
  const isMirrored =
    writtenValue('bundle-ref', given) !== undefined ||
    (bundleFile !== undefined && (await namesMirror(bundleFile)));
  return isMirrored ? mirror : bundle;
}

/** As it is written. The reader of flags is not loaded yet. */
function writtenValue(name: string, { args, env }: GivenValues): string | undefined {
  const flag = `--${name}`;
  const at = args.findLastIndex((arg) => arg === flag || arg.startsWith(`${flag}=`));
  const variable = env[`BUNDLE_SERVER_${name.toUpperCase().replaceAll('-', '_')}`];
  return (args[at] === flag ? args[at + 1] : args[at]?.slice(flag.length + 1)) || variable || undefined;
}

async function namesMirror(file: string): Promise<boolean> {
  const found = await stat(file).catch(() => undefined);
  const json =
    found?.isFile() === true ? readJson(await readFile(file, 'utf8').catch(() => undefined)) : undefined;
  return isRecord(json) && typeof json['ref'] === 'string';
}
