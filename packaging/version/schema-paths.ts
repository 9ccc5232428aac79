// The leaf paths of a JSON Schema, such as `server.image.tag`. Pure. Items of a list belong to its own path. Refuses a
// definition that contains itself, because its paths have no end.

import { z } from 'zod';

const schemaShape = z.looseObject({
  $ref: z.string().optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  items: z.unknown().optional(),
});
const rootShape = z.looseObject({ definitions: z.record(z.string(), z.unknown()).default({}) });

/** Sorted. @throws {Error} naming a definition that is missing or contains itself */
export function leafPaths(schema: unknown): readonly string[] {
  const { definitions } = rootShape.parse(schema);
  const visit = (value: unknown, path: readonly string[], open: readonly string[]): readonly string[] => {
    const { $ref, properties = {}, items } = schemaShape.catch({}).parse(value);
    if ($ref !== undefined) {
      const name = $ref.replace('#/definitions/', '');
      const definition = definitions[name];
      if (definition === undefined || open.includes(name))
        throw new Error(`the definition ${name} is missing or contains itself`);
      return visit(definition, path, [...open, name]);
    }
    const below = [
      ...Object.entries(properties).flatMap(([key, one]) => visit(one, [...path, key], open)),
      ...(items === undefined ? [] : visit(items, path, open)),
    ];
    return below.length === 0 && path.length > 0 ? [path.join('.')] : below;
  };
  return [...new Set(visit(schema, [], []))].sort();
}
