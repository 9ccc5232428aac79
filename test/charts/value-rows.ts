// Tables of values that a chart is given, and of what it says: a row is one line, as a user writes values in YAML.

import { parse } from 'yaml';

export type ValueRow = readonly [name: string, values: object, message: RegExp];

/**
 * @param text a row a line, or two lines: `name | values | pattern`, the values without their outer braces
 * @param known values that several rows use: `$name` stands for one, and `<<: $name` for its keys
 */
export function valueRows(text: string, known: Readonly<Record<string, unknown>> = {}): readonly ValueRow[] {
  const lines = text
    .replaceAll(/\n +\| /g, ' | ')
    .split('\n')
    .filter((line) => line.trim() !== '');
  return lines.map((line) => {
    const [name = '', values = '', pattern = ''] = line.trim().split(' | ');
    const filled = values.replace(/\$(\w+)/g, (_all, key: string) => JSON.stringify(known[key]));
    return [name, parse(`{${filled}}`, { merge: true }), new RegExp(pattern)];
  });
}
