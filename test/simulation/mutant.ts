// Loads the scenarios once more with functions of one module of the product exchanged. The whole module graph is
// loaded under its own query, so the real product stays in use in the same process. Owns the loader hook.
// Refuses: an exchange that changes nothing, because the module is not loaded or does not export the function.

import { registerHooks } from 'node:module';
import type { Exchange } from './mutations/exchange.ts';

interface Loading {
  readonly exchange: Exchange;
  /** URL of the exchanged module. */
  readonly url: string;
  readonly called: Set<string>;
}

export interface Mutant {
  readonly scenarios: typeof import('./scenarios.ts').scenarios;
  /** The replacements that were called so far, by the name of the function. */
  readonly called: ReadonlySet<string>;
}

const root = new URL('../../', import.meta.url).href;
const graph = new Set<string>();
const mutants = new Map<string, Loading>();

registerHooks({
  resolve: (specifier, context, next) => {
    const found = next(specifier, context);
    const id = context.parentURL === undefined ? null : new URL(context.parentURL).searchParams.get('mutant');
    const isCopied = found.url.startsWith(root) && !found.url.includes('/node_modules/');
    if (id === null || !isCopied || found.url === import.meta.url || found.url.includes('?')) return found;
    graph.add(found.url);
    return { ...found, url: `${found.url}?mutant=${id}` };
  },
  load: (url, context, next) => {
    const [path = '', query = ''] = url.split('?');
    // The query of the real file goes on after the id, so no mutant has that id.
    const id = query.startsWith('mutant=') ? query.slice('mutant='.length) : '';
    const mutant = mutants.get(id);
    if (mutant?.url !== path) return next(url, context);
    return { format: 'module', source: sourceOf(id, mutant), shortCircuit: true };
  },
});

/** Source of the replacement module: its own exports take precedence over those of `export *`. */
function sourceOf(id: string, { exchange, url }: Loading): string {
  const real = JSON.stringify(`${url}?mutant=${id}&real`);
  return `import { replace } from ${JSON.stringify(import.meta.url)};
import * as real from ${real};
export * from ${real};
export const { ${Object.keys(exchange.replacements).join(', ')} } = replace(${JSON.stringify(id)}, real);`;
}

/** Called by the replacement module: the replacements, around the real functions of this mutant. */
export function replace(id: string, real: object): Readonly<Record<string, unknown>> {
  const mutant = mutants.get(id);
  if (mutant === undefined) throw new Error(`no mutant ${id}`);
  const { exchange, url, called } = mutant;
  const pairs = Object.entries(exchange.replacements).map(([name, build]) => {
    const original: unknown = Reflect.get(real, name);
    if (typeof original !== 'function') throw new Error(`${url} exports no function ${name}`);
    const replacement = build(original, real);
    if (typeof replacement !== 'function') throw new Error(`the replacement of ${name} is not a function`);
    const noted = new Proxy(replacement, {
      apply: (target, self, given) => {
        called.add(name);
        return Reflect.apply(target, self, given);
      },
    });
    return [name, noted] as const;
  });
  return Object.fromEntries(pairs);
}

/** The files of the graph by namespace, which is one object for each file: rows name modules and not paths. */
const urls = await readGraph();

async function readGraph(): Promise<ReadonlyMap<unknown, string>> {
  await loadScenarios('none');
  const read = [...graph].map(async (url): Promise<readonly [unknown, string]> => [await import(url), url]);
  return new Map(await Promise.all(read));
}

/** @throws if the scenarios do not load the module, or if it does not export a function of that name */
export async function loadMutant(exchange: Exchange): Promise<Mutant> {
  const url = urls.get(exchange.module);
  if (url === undefined) throw new Error('the scenarios do not load the module that is exchanged');
  const id = `${mutants.size + 1}`;
  const called = new Set<string>();
  mutants.set(id, { exchange, url, called });
  const { scenarios } = await loadScenarios(id);
  return { scenarios, called };
}

function loadScenarios(id: string): Promise<typeof import('./scenarios.ts')> {
  return import(`./scenarios.ts?mutant=${id}`);
}
