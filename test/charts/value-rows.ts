// Tables of values that a chart is given, and of what it says.

import { fieldsIn, textRows } from '../support/text-rows.ts';

export type ValueRow = readonly [name: string, values: object, message: RegExp];

/** @param text rows of `name | values | pattern`. See {@link textRows} and {@link fieldsIn}. */
export const valueRows = (text: string, known?: Readonly<Record<string, unknown>>): readonly ValueRow[] =>
  textRows(text).map(([name = '', values = '', pattern = '']) => [
    name,
    fieldsIn(values, known),
    new RegExp(pattern),
  ]);
