// The search for secrets: the key, and what signs a link, in all that the demo wrote for people and scrapers. Owns what is
// searched. Refuses to print what it found: names alone.

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Any link of the export service, also one that no step has seen. */
const signedQuery = /signature=[0-9a-f]{16}/;

/** @returns the names of the texts that hold a secret */
export function findSecrets(
  texts: ReadonlyMap<string, string>,
  secrets: readonly string[],
): readonly string[] {
  return [...texts]
    .filter(([, text]) => signedQuery.test(text) || secrets.some((secret) => text.includes(secret)))
    .map(([name]) => name);
}

/** Key, queries, and the signatures in them. */
export function secretsOf(key: string, linkQueries: Iterable<string>): readonly string[] {
  const queries = [...linkQueries];
  const signatures = queries.map((query) => new URLSearchParams(query).get('signature') ?? query);
  return [key, ...queries, ...signatures];
}

/** The resource and its ConfigMap, as everyone with rights to read them sees them. The output Secret is the link's place. */
export async function readObjects(stateFolder: string): Promise<ReadonlyMap<string, string>> {
  const folder = join(stateFolder, 'objects');
  const names = (await readdir(folder)).filter((name) => !name.startsWith('Secret.'));
  const texts = names.map(async (name) => [name, await readFile(join(folder, name), 'utf8')] as const);
  return new Map(await Promise.all(texts));
}

/** What every user of the machine sees of a process. Empty where the system has no `/proc`. */
export function readCommandLine(pid: number | 'self'): Promise<string> {
  return readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
}
