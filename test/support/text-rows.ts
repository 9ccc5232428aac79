// Tables of tests as text: a row is one line of cells between bars, or two lines where it is long. A cell of fields is
// YAML, as a user writes it.

import { parse } from 'yaml';

/** @param text rows; a line that begins with a bar continues the row before */
export function textRows(text: string): readonly (readonly string[])[] {
  const lines = text.replaceAll(/\n +\| /g, ' | ').split('\n');
  return lines.filter((line) => line.trim() !== '').map((line) => line.trim().split(' | '));
}

/**
 * @param cell fields without their outer braces
 * @param known values that several rows use: `$name` stands for one, and `<<: $name` for its keys
 */
export function fieldsIn(cell: string, known: Readonly<Record<string, unknown>> = {}) {
  const filled = cell.replace(/\$(\w+)/g, (_all, name: string) => JSON.stringify(known[name]));
  return parse(`{${filled}}`, { merge: true });
}
