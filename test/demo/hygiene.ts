// The search for secrets: the API key and the signature of every link of the demo, in all output that a user, a
// scraper or a GitOps tool can read.

import { readFile } from 'node:fs/promises';
import { namespace } from './demo-cluster.ts';
import type { DemoEnvironment } from './environment.ts';

export interface HygieneReport {
  readonly searched: readonly string[];
  readonly bytes: number;
  /** Where a secret was found; names only. */
  readonly hits: readonly string[];
}

/** @param secrets the texts that must not be found (never printed) */
export async function searchForSecrets(
  environment: DemoEnvironment,
  secrets: readonly string[],
  extra: ReadonlyMap<string, string>,
): Promise<HygieneReport> {
  const texts = new Map(extra);
  for (const { name, logFile } of environment.programs.values())
    texts.set(`log of ${name}`, await readFile(logFile, 'utf8'));
  const kinds = ['staticexports.staticexport.dev', 'configmaps', 'events', 'events.events.k8s.io', 'leases'];
  for (const kind of kinds) {
    const args = ['get', kind, `--namespace=${namespace}`, '--output=yaml', '--show-managed-fields'];
    texts.set(kind, await environment.cluster.kubectl(args));
  }
  texts.set(
    'describe',
    await environment.cluster.kubectl([
      'describe',
      'staticexports.staticexport.dev',
      `--namespace=${namespace}`,
    ]),
  );
  const hits = [...texts]
    .filter(([, text]) => secrets.some((secret) => text.includes(secret)))
    .map(([name]) => name);
  const bytes = [...texts.values()].reduce((sum, text) => sum + text.length, 0);
  return { searched: [...texts.keys()], bytes, hits };
}

/** Metrics and status of a running program, to be searched later. */
export async function readAdminPages(
  name: string,
  baseUrl: string,
  paths: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const pages = new Map<string, string>();
  for (const path of paths) pages.set(`${path} of ${name}`, await (await fetch(`${baseUrl}${path}`)).text());
  return pages;
}
