// The column PAGES at each stage of a resource.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shownPages } from '#operator/reconcile/status/status.ts';
import type { Status } from '#operator/staticexport/status-schema.ts';
import { active, inputHash } from '../cases/observations.ts';

const job = { id: 'se_2', inputHash, pageCount: 7 };
const candidate = { version: 'v', jobId: 'se_2', pages: 3, reason: 'TooFewPages' };
const rows: Readonly<Record<string, readonly [Status, number | undefined]>> = {
  'nothing is known yet': [{}, undefined],
  'the first job runs': [{ job }, 7],
  'the first export is held back': [{ job, candidate }, 3],
  'something is published: what runs beside it is not meant': [{ active, job, candidate }, 20],
  'what is published was never inspected': [
    { active: { ...active, pages: undefined, jobId: 'se_2' }, job },
    7,
  ],
  'what is published was never inspected, and another job runs': [
    { active: { ...active, pages: undefined }, job },
    undefined,
  ],
};

for (const [name, [status, pages]] of Object.entries(rows)) {
  test(`pages: ${name}`, () => assert.equal(shownPages(status), pages));
}
