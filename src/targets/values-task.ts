// What crosses between a thread that plans edits of values documents and the program that asks for them. A link is
// sent as text, because an opaque one does not survive the boundary; nothing here is logged.
// Refuses: a message of another shape.

import * as z from 'zod/mini';
import { Link } from '../wire/link.ts';
import { planValuesEdit, type ValuesPlan, valuesRefusals, type WantedValues } from './values.ts';

export interface ValuesTask {
  readonly text: string;
  readonly version?: string | undefined;
  readonly bundleUrl?: string | undefined;
}

const taskShape = z.object({
  text: z.string(),
  version: z.optional(z.string()),
  bundleUrl: z.optional(z.string()),
});

const planShape = z.discriminatedUnion('outcome', [
  z.object({ outcome: z.literal('in-sync') }),
  z.object({ outcome: z.literal('edit'), text: z.string() }),
  z.object({ outcome: z.literal('refused'), code: z.enum(valuesRefusals), message: z.string() }),
]) satisfies z.ZodMiniType<ValuesPlan>;

export function taskOf(text: string, { version, bundleUrl }: WantedValues): ValuesTask {
  return { text, version, bundleUrl: bundleUrl?.reveal() };
}

/** The thread's side. @throws {z.core.$ZodError} when the input is not a {@link ValuesTask} */
export function runValuesTask(input: unknown): ValuesPlan {
  const { text, version, bundleUrl } = taskShape.parse(input);
  const link = Link.parse(bundleUrl);
  return planValuesEdit(text, {
    enabled: true,
    ...(version && { version }),
    ...(link && { bundleUrl: link }),
  });
}

/** @throws {z.core.$ZodError} when the thread's program is not {@link runValuesTask} */
export function readPlan(answer: unknown): ValuesPlan {
  return planShape.parse(answer);
}
