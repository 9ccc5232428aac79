// Texts that YAML reads as something else, in every value of a chart that is a text. What the chart does not accept it names,
// in the schema of values or in a message of its own; the rest is rendered.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import * as operator from './operator-chart.ts';
import { type RenderOptions, runHelm } from './rendered-chart.ts';
import * as site from './site-chart.ts';
import { withValue } from './value-paths.ts';

export const oddTexts: readonly string[] = [
  ...['87654321', '1e3', '0x1F', '2026-11-27', 'on', 'yes', 'null', '~'],
  ...['a: b', '*a', '&a', '@a', '"', '{'],
];

export interface OddRender {
  readonly manifest: string;
  /** Paths of the values that hold the text. */
  readonly accepted: readonly string[];
  /** The sentence for each value that was refused, by its path. */
  readonly refused: ReadonlyMap<string, string>;
}

/** Mirrors are on with each text that is a host, and their scratch folder needs room. */
const room = { scratchSizeLimit: '900Gi' };
export const oddFixtures: readonly {
  readonly chart: string;
  readonly name: string;
  readonly fixtureNames: readonly string[];
  readonly fixture: (name: string) => string;
  readonly everything: RenderOptions;
}[] = [
  {
    ...operator,
    name: 'the operator',
    everything: { files: [operator.fixture('everything')], values: room },
  },
  { ...site, name: 'the site', everything: { files: [site.fixture('everything')] } },
];

type Shape = 'text' | 'list' | 'map';
const shape = z.looseObject({
  type: z.union([z.string(), z.array(z.string())]).optional(),
  enum: z.array(z.unknown()).optional(),
  $ref: z.string().optional(),
  items: z.unknown().optional(),
  properties: z.record(z.string(), z.unknown()).default({}),
  additionalProperties: z.unknown().optional(),
  definitions: z.record(z.string(), z.unknown()).default({}),
});

/** Every value that is a text, a list of texts or a map of texts, with its shape. `extraObjects` are objects as texts. */
export function textPaths(chart: string): ReadonlyMap<string, Shape> {
  const root = shape.parse(JSON.parse(readFileSync(join(chart, 'values.schema.json'), 'utf8')));
  const resolve = (schema: unknown): z.infer<typeof shape> => {
    const found = shape.catch(shape.parse({})).parse(schema);
    return found.$ref === undefined ? found : resolve(root.definitions[found.$ref.split('/').at(-1) ?? '']);
  };
  const isText = (schema: unknown): boolean => {
    const { type = [], enum: choices } = resolve(schema);
    return [type].flat().includes('string') || (choices?.some((one) => typeof one === 'string') ?? false);
  };
  const walk = (schema: unknown, above: string): readonly (readonly [string, Shape])[] =>
    Object.entries(resolve(schema).properties).flatMap(([name, own]) => {
      const path = `${above}${name}`;
      const { items, additionalProperties } = resolve(own);
      if (isText(own)) return [[path, 'text'] as const];
      if (items !== undefined && isText(items)) return [[path, 'list'] as const];
      if (isText(additionalProperties)) return [[path, 'map'] as const];
      return walk(own, `${path}.`);
    });
  return new Map(walk(root, '').filter(([path]) => path !== 'extraObjects'));
}

const holders: Readonly<Record<Shape, (text: string) => unknown>> = {
  text: (text) => text,
  list: (text) => [text],
  map: (text) => ({ odd: text, 'odd.example.com': text }),
};

/** Sets the text everywhere, and leaves out what is refused until the rest is rendered. @throws {Error} of a refusal that names none */
export async function renderOdd(chart: string, text: string, options: RenderOptions): Promise<OddRender> {
  const { files = [], release = 'docs', namespace = 'docs', apiVersions = [] } = options;
  const accepted = new Map(textPaths(chart));
  const refused = new Map<string, string>();
  for (;;) {
    const values = [...accepted].reduce<object>(
      (all, [path, kind]) => withValue(all, path.split('.'), holders[kind](text)),
      options.values ?? {},
    );
    const flags = [
      ...files.map((file) => `--values=${file}`),
      ...apiVersions.map((version) => `--api-versions=${version}`),
    ];
    const args = ['template', release, chart, `--namespace=${namespace}`, ...flags, '--values=-'];
    const { code, stdout, stderr } = await runHelm(args, JSON.stringify(values));
    if (code === 0) return { manifest: stdout, accepted: [...accepted.keys()], refused };
    const named = refusedPaths(stderr, [...accepted.keys()]);
    if (named.size === 0) throw new Error(`a refusal names no value: ${stderr}`);
    for (const [path, sentence] of named) {
      refused.set(path, sentence);
      accepted.delete(path);
    }
  }
}

/** Of helm's lines for the schema (`- at '/a/b': …`), or of the chart's own message. */
function refusedPaths(message: string, paths: readonly string[]): ReadonlyMap<string, string> {
  const lines = [...message.matchAll(/^\s*- at '\/(\S+?)'.*$/gm)].map(
    ([line, at = '']) => [at.replaceAll('/', '.'), line.trim()] as const,
  );
  const sentence = /error calling (?:fail|include): (.*)$/ms.exec(message)?.[1] ?? message;
  const pairs = lines.length > 0 ? lines : [[sentence, sentence] as const];
  return new Map(
    pairs.flatMap(([place, text]) =>
      paths
        .filter((path) =>
          lines.length > 0
            ? place === path || place.startsWith(`${path}.`)
            : new RegExp(`(^|[^\\w.])${path.replaceAll('.', '\\.')}($|[^\\w])`).test(place),
        )
        .map((path) => [path, text] as const),
    ),
  );
}
