// Replaces `src/operator/staticexport/status-schema.ts`: a stored status never changes in place, and is checked against its
// schema once, by the product or by the oracles.

import { statusSchema as schema } from '#operator/staticexport/status-schema.ts';
import { byIdentity } from './memory.ts';

export * from '#operator/staticexport/status-schema.ts';

const judged = byIdentity((raw: object) => schema.safeParse(raw));
const judge: typeof schema.safeParse = (raw, params) =>
  typeof raw === 'object' && raw !== null && params === undefined && Object.isFrozen(raw)
    ? judged(raw)
    : schema.safeParse(raw, params);

export const statusSchema: typeof schema = new Proxy(schema, {
  get: (target, name) => (name === 'safeParse' ? judge : Reflect.get(target, name)),
});
