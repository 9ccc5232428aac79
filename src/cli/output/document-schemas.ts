// What `-o json` and `-o yaml` print, kind by kind: the published contract. `npm run generate` writes it as JSON Schema,
// and tests check each document that a command prints. Refuses: use at run time, because a command's start would pay for
// zod. Invariant: a later version adds fields and kinds, and changes none.

import * as z from 'zod';
import type { Command } from '../command.ts';
import { codeSchema, exportVersion } from './common-schemas.ts';
import { outputApiVersion } from './format.ts';

/** Of any command that fails. */
const failureDocuments = {
  Error: {
    code: codeSchema,
    message: z.string(),
    retryable: z.boolean().describe('True if the same command may succeed later, without a change.'),
    next: z.array(z.string()).describe('Commands or steps that help.'),
    version: exportVersion
      .describe('Version that the command would publish, where that is known.')
      .optional(),
    written: z
      .array(z.string())
      .describe('Flags of the destinations that hold the version, where some do and others do not.')
      .optional(),
    lastFailure: z
      .strictObject({ code: codeSchema, message: z.string() })
      .describe('Why the last attempt before --timeout failed.')
      .optional(),
  },
};

/** By kind. Strict: a test finds a field that is not published. */
export async function documentSchemasOf(
  commands: readonly Command[],
): Promise<ReadonlyMap<string, z.ZodObject>> {
  const shapes = new Set(await Promise.all(commands.map(({ documents }) => documents())));
  return new Map(
    [...shapes, failureDocuments]
      .flatMap(Object.entries<z.ZodRawShape>)
      .map(([kind, shape]) => [
        kind,
        z
          .strictObject({ apiVersion: z.literal(outputApiVersion), kind: z.literal(kind), ...shape })
          .meta({ id: kind }),
      ]),
  );
}

/** JSON Schema (2020-12) of any document. It admits fields that a later version adds. */
export function documentsAsJsonSchema(schemas: ReadonlyMap<string, z.ZodObject>): object {
  const { $schema, $defs, anyOf } = z.toJSONSchema(z.union([...schemas.values()]), {
    override: ({ jsonSchema }) => {
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  return {
    $schema,
    title: `Documents that static-export prints with -o json and -o yaml (${outputApiVersion})`,
    oneOf: anyOf,
    $defs,
  };
}
