// Writes the tables of values into the charts' READMEs, out of the comments in their values.yaml; with `--check`
// only says whether they are up to date. Owns what stands between the two marks, and nothing else of a README.
// A comment belongs to the key below it. A map whose keys have comments is a group, any other map is a value.
// Refuses: a value without a comment. Whoever adds one has to say what it does.

import { readdir, readFile, writeFile } from 'node:fs/promises';
import { isMap, isNode, isScalar, type Pair, parseDocument, type YAMLMap } from 'yaml';

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
  const { contents, errors } = parseDocument(valuesText);
  if (errors[0] !== undefined) throw errors[0];
  if (!isMap(contents)) throw new Error('values.yaml is not a map');
  const groups: Section[] = [];
  const single: Row[] = [];
  for (const entry of entriesOf(contents)) {
    if (entry.children === undefined) single.push(rowOf(entry, entry.name));
    else groups.push({ group: entry.name, words: entry.words, rows: rowsOf(entry.children, entry.name) });
  }
  const sections = [...groups, { group: undefined, words: '', rows: single }];
  const silent = sections.flatMap(({ rows }) => rows.filter(({ words }) => words === ''));
  if (silent.length > 0)
    throw new Error(`values without a comment: ${silent.map(({ path }) => path).join(', ')}`);
  return sections.filter(({ rows }) => rows.length > 0);
}

interface Entry {
  readonly name: string;
  readonly words: string;
  readonly value: unknown;
  /** Of a group. */
  readonly children: readonly Entry[] | undefined;
}

function entriesOf(map: YAMLMap): readonly Entry[] {
  return map.items.map((pair, at) => entryOf(pair, at === 0 ? map.commentBefore : undefined));
}

/** @param above the comment over a map's first key, which the parser gives to the map */
function entryOf(pair: Pair, above: string | null | undefined): Entry {
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

function rowsOf(entries: readonly Entry[], prefix: string): readonly Row[] {
  return entries.flatMap((entry) => {
    const path = `${prefix}.${entry.name}`;
    if (entry.children === undefined) return [rowOf(entry, path)];
    const own: readonly Row[] = entry.words === '' ? [] : [{ path, fallback: undefined, words: entry.words }];
    return [...own, ...rowsOf(entry.children, path)];
  });
}

function rowOf({ value, words }: Entry, path: string): Row {
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
  return found.filter((words) => words !== undefined);
}

async function renewChart(name: string, folder: URL, isCheck: boolean): Promise<string | undefined> {
  const file = new URL('README.md', folder);
  try {
    const found = await readFile(file, 'utf8');
    const values = await readFile(new URL('values.yaml', folder), 'utf8');
    const wanted = renewReadme(found, valuesText(readSections(values)));
    if (found === wanted) return undefined;
    if (isCheck) return `charts/${name}/README.md differs from values.yaml; run "npm run generate"`;
    await writeFile(file, wanted);
    return undefined;
  } catch (error) {
    return `charts/${name}: ${error instanceof Error ? error.message : String(error)}`;
  }
}

if (import.meta.main) {
  const wrong = await renewCharts(new URL('./', import.meta.url), process.argv.includes('--check'));
  for (const words of wrong) process.stderr.write(`${words}\n`);
  if (wrong.length > 0) process.exitCode = 1;
}
