// Loads the scenarios once more, with one text of the product's source replaced: the whole module graph under a
// query of its own, so that the product as it is stays beside it, untouched. Owns the loader hook.

import { registerHooks } from 'node:module';
import type { RuleMutation } from './rule-mutations.ts';

const root = new URL('../../', import.meta.url).href;
const edits = new Map<string, RuleMutation>();

registerHooks({
  resolve: (specifier, context, next) => {
    const found = next(specifier, context);
    const query = context.parentURL === undefined ? '' : new URL(context.parentURL).search;
    const isOurs = found.url.startsWith(root) && !found.url.includes('/node_modules/');
    return isOurs && edits.has(query) && !found.url.includes('?')
      ? { ...found, url: `${found.url}${query}` }
      : found;
  },
  load: (url, context, next) => {
    const [path, query] = url.split('?');
    const edit = edits.get(`?${query ?? ''}`);
    const loaded = next(url, context);
    if (edit === undefined || path !== `${root}src/${edit.file}`) return loaded;
    const source =
      typeof loaded.source === 'string'
        ? loaded.source
        : new TextDecoder().decode(loaded.source ?? undefined);
    if (!source.includes(edit.from)) throw new Error(`nothing to mutate in ${edit.file}: ${edit.from}`);
    return { ...loaded, source: source.replace(edit.from, () => edit.to) };
  },
});

/** @throws when the text to be replaced is not there */
export async function loadMutant(mutation: RuleMutation): Promise<typeof import('./scenarios.ts')> {
  const query = `?mutant=${edits.size + 1}`;
  edits.set(query, mutation);
  return import(`./scenarios.ts${query}`);
}
