// The search for secrets: the key, and what signs a link, in all that the demo wrote for people and scrapers. Owns what is
// searched. Refuses to print what it found: names alone.

import { readFile } from 'node:fs/promises';
import type { DemoEnvironment } from './environment.ts';

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

/** What every user of the machine sees of a process. Empty where the system has no `/proc`. */
function readCommandLine(pid: number | 'self'): Promise<string> {
  return readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
}

/** Of the servers that run, because one of them is killed soon; and what every user sees of these processes. */
export async function readAdminPages(demo: DemoEnvironment): Promise<ReadonlyMap<string, string>> {
  const texts = new Map([['command line of this process', await readCommandLine('self')]]);
  for (const { name, pid } of demo.servers.values()) {
    texts.set(`command line of ${name}`, await readCommandLine(pid));
    texts.set(`/metrics of ${name}`, await demo.readAdminPage(name, '/metrics'));
  }
  return texts.set('/status of bundle-server', await demo.readAdminPage('bundle-server', '/status'));
}
