// A page of the chart's docs as data: every YAML file in it by its path, and its shell commands. Refuses a block of YAML
// without a path, and a tree that does not list exactly the files, so that a reader who copies the page has everything.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Page {
  /** The files of the repository, by path. */
  readonly files: Readonly<Record<string, string>>;
  /** Files that the page offers instead of the ones above, by path. */
  readonly replacements: Readonly<Record<string, string>>;
  /** Its blocks of shell commands, in their order. */
  readonly commands: readonly string[];
}

const docs = join(import.meta.dirname, '../../charts/static-export-operator/docs');

/**
 * @param replaced what exists only in tests, instead of the page's text: hosts and a key. Each must be in the page
 */
export function readPage(name: string, replaced: Readonly<Record<string, string>>): Page {
  const text = readFileSync(join(docs, `${name}.md`), 'utf8');
  const replace = (block: string): string =>
    Object.entries(replaced).reduce((changed, [from, to]) => changed.replaceAll(from, to), block);
  for (const from of Object.keys(replaced)) assert.ok(text.includes(from), `${name}.md holds ${from}`);
  const files: Record<string, string> = {};
  const replacements: Record<string, string> = {};
  const named = /^`([\w./-]+\.yaml)`(, instead of the file above)?:\n\n```yaml\n(.*?)^```$/gms;
  for (const [, path = '', instead, block = ''] of text.matchAll(named)) {
    const group = instead === undefined ? files : replacements;
    assert.equal(group[path], undefined, `${path} is in the page once`);
    group[path] = replace(block);
  }
  const blocks = [...text.matchAll(/^ *```ya?ml$/gm)].length;
  assert.equal(
    Object.keys({ ...files }).length + Object.keys(replacements).length,
    blocks,
    'every block has a path',
  );
  assert.deepEqual(Object.keys(files).sort(), treeOf(text));
  for (const path of Object.keys(replacements)) assert.ok(path in files, `${path} replaces a file`);
  const commands = [...text.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block);
  return { files, replacements, commands };
}

/** The paths of the first block, which draws the repository with two levels of folders at most. */
function treeOf(text: string): readonly string[] {
  const [, tree = ''] = /^```\n(.*?)^```$/ms.exec(text) ?? [];
  const paths: string[] = [];
  let folder = '';
  for (const [, indent = '', name = ''] of tree.matchAll(/^((?:│ {3}| {4})*)[├└]── (\S+)/gm)) {
    if (indent === '') folder = name;
    else paths.push(`${folder}${name}`);
  }
  return paths.sort();
}
