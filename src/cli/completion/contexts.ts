// The names of the contexts in the kubeconfig files, read without the Kubernetes client: a shell asks for them often.
// A file that is absent or not valid has no contexts. Refuses: everything else in these files.

import { readFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { parse } from 'yaml';
import * as z from 'zod';
import { homePath, type SourceRequest } from './source-request.ts';

const kubeconfigShape = z.object({ contexts: z.array(z.object({ name: z.string() })) });

export async function listContexts({ given, env }: SourceRequest): Promise<readonly string[]> {
  const flag = homePath(given('kubeconfig'), env);
  const files = flag === undefined ? defaultFiles(env) : [flag];
  const names = await Promise.all(files.map(readContexts));
  return [...new Set(names.flat())];
}

function defaultFiles(env: SourceRequest['env']): readonly string[] {
  const files = (env['KUBECONFIG'] ?? '').split(delimiter).filter((file) => file !== '');
  return files.length > 0 ? files : [join(env['HOME'] ?? '', '.kube', 'config')];
}

async function readContexts(file: string): Promise<readonly string[]> {
  try {
    const { contexts } = kubeconfigShape.parse(parse(await readFile(file, 'utf8')));
    return contexts.map(({ name }) => name);
  } catch {
    return [];
  }
}
