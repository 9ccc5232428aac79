// The stream of turns as Singer describes it: its schema, the catalog that `--discover` prints, and which fields a catalog of a
// user selects. Pure. The key is always selected, because targets join on it.

import * as z from 'zod/mini';
import { instantColumns, type TurnColumn, turnColumns, turnSchema } from '../turn.ts';

export const singerStream = 'turns';

const source = { type: 'object', properties: { title: { type: 'string' }, url: { type: 'string' } } };

function propertyOf(name: TurnColumn): object {
  if (name === 'sources') return { type: ['array'], items: source };
  const type = turnSchema.shape[name].safeParse(null).success ? ['null', 'string'] : ['string'];
  return instantColumns.has(name) ? { type, format: 'date-time' } : { type };
}

const properties: Readonly<Record<string, object>> = Object.fromEntries(
  turnColumns.map((name) => [name, propertyOf(name)]),
);
export const keyProperties: readonly string[] = ['turn_key'];

/** Names of a turn's fields. */
export type Fields = ReadonlySet<string>;
export const allFields: Fields = new Set(turnColumns);

/** @param fields without those that are left out */
export const singerSchema = (fields: Fields = allFields) => ({
  type: 'object',
  properties: Object.fromEntries(Object.entries(properties).filter(([name]) => fields.has(name))),
});

/** What `--discover` prints. */
export const singerCatalog = {
  streams: [
    {
      tap_stream_id: singerStream,
      stream: singerStream,
      key_properties: keyProperties,
      schema: singerSchema(),
      metadata: [
        {
          breadcrumb: [],
          metadata: {
            inclusion: 'available',
            selected: true,
            'table-key-properties': keyProperties,
            'forced-replication-method': 'INCREMENTAL',
          },
        },
        ...[...allFields].map((name) => ({
          breadcrumb: ['properties', name],
          metadata: { inclusion: keyProperties.includes(name) ? 'automatic' : 'available' },
        })),
      ],
    },
  ],
};

const catalogSchema = z.object({
  streams: z.array(
    z.object({
      tap_stream_id: z.string(),
      metadata: z.optional(
        z.array(
          z.object({
            breadcrumb: z.array(z.string()),
            metadata: z.object({ selected: z.optional(z.nullable(z.boolean())) }),
          }),
        ),
      ),
    }),
  ),
});

/**
 * @param value of a catalog's file
 * @returns the selected fields, none where the stream is not selected; `undefined`: it is not a catalog
 */
export function readSelectedFields(value: unknown): Fields | undefined {
  const read = catalogSchema.safeParse(value);
  if (!read.success) return undefined;
  const stream = read.data.streams.find((one) => one.tap_stream_id === singerStream);
  if (stream === undefined) return new Set();
  const unselected = new Set(
    (stream.metadata ?? [])
      .filter(({ metadata: { selected } }) => selected === false)
      .map(({ breadcrumb }) => breadcrumb.join('.')),
  );
  if (unselected.has('')) return new Set();
  const isSelected = (name: string): boolean =>
    keyProperties.includes(name) || !unselected.has(`properties.${name}`);
  return new Set([...allFields].filter(isSelected));
}
