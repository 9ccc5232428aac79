// Writes what follows from the charts' values.yaml: the tables of values in the READMEs, files/defaults.yaml, `null` in the
// schema, and there the fields of a StaticExport. With `--check` it only reports what is outdated. Of a README it owns what is between the two marks.
// A comment belongs to the key below it. A map whose keys have comments is a group, any other map is a value.
// Refuses a value without a comment.

import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { isMap, isNode, isScalar, type Pair, parseDocument, type YAMLMap } from 'yaml';
import { specSchema } from '#operator/staticexport/schema.ts';
import { structuralSchema } from '../crds/generate.ts';
import { admitNull, admitSpec, defaultsText, type ValuesEntry } from './value-defaults.ts';

const marks = {
  begin: '<!-- values: generated from values.yaml by "npm run generate" -->',
  end: '<!-- /values -->',
};

interface Row {
  /** Such as `server.image.tag`. */
  readonly path: string;
  /** `undefined` for a group. */
  readonly fallback: unknown;
  readonly words: string;
}

interface Section {
  /** The group at the top level; `undefined` for values that stand there by themselves. */
  readonly group: string | undefined;
  readonly words: string;
  readonly rows: readonly Row[];
}

/** @throws {Error} naming every value without a comment */
export function readSections(valuesText: string): readonly Section[] {
  const groups: Section[] = [];
  const single: Row[] = [];
  for (const entry of readEntries(valuesText)) {
    if (entry.children === undefined) single.push(rowOf(entry, entry.name));
    else groups.push({ group: entry.name, words: entry.words, rows: rowsOf(entry.children, entry.name) });
  }
  const sections = [...groups, { group: undefined, words: '', rows: single }];
  const silent = sections.flatMap(({ rows }) => rows.filter(({ words }) => words === ''));
  if (silent.length > 0)
    throw new Error(`values without a comment: ${silent.map(({ path }) => path).join(', ')}`);
  return sections.filter(({ rows }) => rows.length > 0);
}

/** The keys of a values.yaml, with their comments. @throws {Error} of YAML that cannot be read */
export function readEntries(valuesText: string): readonly ValuesEntry[] {
  const { contents, errors } = parseDocument(valuesText);
  if (errors[0] !== undefined) throw errors[0];
  if (!isMap(contents)) throw new Error('values.yaml is not a map');
  return entriesOf(contents);
}

function entriesOf(map: YAMLMap): readonly ValuesEntry[] {
  return map.items.map((pair, at) => entryOf(pair, at === 0 ? map.commentBefore : undefined));
}

/** @param above the comment over a map's first key, which the parser gives to the map */
function entryOf(pair: Pair, above: string | null | undefined): ValuesEntry {
  const { key, value } = pair;
  if (!isScalar(key)) throw new Error('values.yaml has a key that is no text');
  const own = key.commentBefore ?? above ?? '';
  const words = own.split('\n').map((line) => line.trim());
  const entries = isMap(value) && !value.flow ? entriesOf(value) : [];
  const isGroup = entries.some((entry) => entry.words !== '' || entry.children !== undefined);
  return {
    name: String(key.value),
    words: words.filter(Boolean).join(' '),
    value: isNode(value) ? value.toJSON() : value,
    children: isGroup ? entries : undefined,
  };
}

function rowsOf(entries: readonly ValuesEntry[], prefix: string): readonly Row[] {
  return entries.flatMap((entry) => {
    const path = `${prefix}.${entry.name}`;
    if (entry.children === undefined) return [rowOf(entry, path)];
    const own: readonly Row[] = entry.words === '' ? [] : [{ path, fallback: undefined, words: entry.words }];
    return [...own, ...rowsOf(entry.children, path)];
  });
}

function rowOf({ value, words }: ValuesEntry, path: string): Row {
  return { path, fallback: value ?? null, words };
}

/** Markdown of what belongs between the marks. */
export function valuesText(sections: readonly Section[]): string {
  return sections
    .map(({ group, words, rows }) => {
      const title = group === undefined ? '### Further values' : `### \`${group}\``;
      const table = ['| value | default | what it does |', '|---|---|---|', ...rows.map(rowText)].join('\n');
      return [title, words, table].filter(Boolean).join('\n\n');
    })
    .join('\n\n');
}

function rowText({ path, fallback, words }: Row): string {
  const cells = [`\`${path}\``, fallback === undefined ? '' : `\`${JSON.stringify(fallback)}\``, words];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

/** The README with its tables renewed; where it has no marks yet, they come at its end. */
export function renewReadme(readme: string, values: string): string {
  const block = `${marks.begin}\n\n${values}\n\n${marks.end}`;
  const begin = readme.indexOf(marks.begin);
  const end = readme.indexOf(marks.end);
  if (begin < 0 || end < begin) return `${readme.trimEnd()}\n\n## Values\n\n${block}\n`;
  return readme.slice(0, begin) + block + readme.slice(end + marks.end.length);
}

/**
 * @param folder of the charts, each a folder with `values.yaml` and `README.md`
 * @param isCheck writes nothing
 * @returns what is wrong, a line each
 */
export async function renewCharts(folder: URL, isCheck: boolean): Promise<readonly string[]> {
  const charts = (await readdir(folder, { withFileTypes: true })).filter((entry) => entry.isDirectory());
  const found = await Promise.all(
    charts.map(({ name }) => renewChart(name, new URL(`${name}/`, folder), isCheck)),
  );
  return found.flat();
}

async function renewChart(name: string, folder: URL, isCheck: boolean): Promise<readonly string[]> {
  const read = (file: string): Promise<string> => readFile(new URL(file, folder), 'utf8');
  try {
    const [values, readme] = [await read('values.yaml'), await read('README.md')];
    const [schema, entries] = [JSON.parse(await read('values.schema.json')), readEntries(values)];
    const admitted = admitNull(admitSpec(schema, structuralSchema(specSchema)));
    const texts: readonly (readonly [file: string, found: string, wanted: string])[] = [
      ['README.md', readme, renewReadme(readme, valuesText(readSections(values)))],
      [
        'files/defaults.yaml',
        await read('files/defaults.yaml').catch(() => ''),
        defaultsText(entries, schema),
      ],
      [
        'values.schema.json',
        '',
        isDeepStrictEqual(schema, admitted) ? '' : JSON.stringify(admitted, null, 2),
      ],
    ];
    const stale = texts.filter(([, found, wanted]) => found !== wanted);
    if (isCheck)
      return stale.map(
        ([file]) => `charts/${name}/${file} differs from values.yaml or the resource; run "npm run generate"`,
      );
    for (const [file, , wanted] of stale) await writeFormatted(new URL(file, folder), wanted);
    return [];
  } catch (error) {
    return [`charts/${name}: ${error instanceof Error ? error.message : String(error)}`];
  }
}

async function writeFormatted(file: URL, text: string): Promise<void> {
  const isJson = file.pathname.endsWith('.json');
  const biome = (input: string): string =>
    execFileSync('biome', ['format', '--stdin-file-path=values.schema.json'], { input, encoding: 'utf8' });
  await mkdir(new URL('./', file), { recursive: true });
  await writeFile(file, isJson ? biome(text) : text);
}

if (import.meta.main) {
  const wrong = await renewCharts(new URL('./', import.meta.url), process.argv.includes('--check'));
  for (const words of wrong) process.stderr.write(`${words}\n`);
  if (wrong.length > 0) process.exitCode = 1;
}
