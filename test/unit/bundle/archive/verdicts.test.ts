// Every row of the verdict table (src/bundle/README.md) with an archive of its own: the table and the reader
// cannot drift apart. A row without a case, a case without a row and a code without a row all fail.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { oddAnswerCodes, refusalCodes } from '#bundle/refusal.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { readBytes } from '../../../support/read-archive.ts';
import type { ArchiveCases } from '../cases/archive-case.ts';
import { nameCases } from '../cases/name-cases.ts';
import { streamCases } from '../cases/stream-cases.ts';
import { tarCases } from '../cases/tar-cases.ts';
import { zipCases } from '../cases/zip-cases.ts';

const readme = readFileSync(join(import.meta.dirname, '../../../../src/bundle/README.md'), 'utf8');
const cases: ArchiveCases = { ...nameCases, ...tarCases, ...zipCases, ...streamCases };

interface Row {
  readonly name: string;
  readonly verdict: Verdict;
  readonly code: string | undefined;
}

const verdicts = ['taken', 'normalised', 'rejected', 'retried'] as const;
type Verdict = (typeof verdicts)[number];
const isVerdict = (text: string | undefined): text is Verdict => verdicts.some((one) => one === text);

/** Rows: | `case` | what it is | taken / normalised `Note` / rejected `Code` / retried `Code` | */
const rows: readonly Row[] = [
  ...readme.matchAll(/^\| `([\w-]+)`\s*\|[^|]*\|\s*(taken|normalised|rejected|retried)(?: `(\w+)`)?\s*\|$/gm),
].map(([, name = '', verdict, code]) => {
  assert.ok(isVerdict(verdict));
  return { name, verdict, code };
});

test('the table has a row for each case and a case for each row', () => {
  assert.deepEqual(rows.map(({ name }) => name).sort(), Object.keys(cases).sort());
});

test('every reason for a refusal stands in the tables', () => {
  const named = new Set([...readme.matchAll(/rejected `(\w+)`/g)].map(([, code]) => code));
  assert.deepEqual([...named].sort(), [...refusalCodes].sort());
});

test('every answer that is no archive stands in the tables', () => {
  const named = new Set([...readme.matchAll(/(?:retried|transient) `(\w+)`/g)].map(([, code]) => code));
  for (const code of oddAnswerCodes) assert.ok(named.has(code), code);
});

describe('each row of the verdict table holds', () => {
  for (const { name, verdict, code } of rows) {
    const make = cases[name];
    for (const pieceBytes of [64 * 1024, 512, 97]) {
      test(`${name}: ${verdict} ${code ?? ''}, in pieces of ${pieceBytes} bytes`, async () => {
        assert.ok(make !== undefined);
        const { bytes, limits, holds } = make();
        const reading = readBytes(bytes, {
          pieceBytes: Math.max(pieceBytes, bytes.length / 4000),
          limits: limits ?? {},
        });
        if (verdict === 'rejected' || verdict === 'retried') {
          await assert.rejects(reading, (error) => {
            assert.ok(error instanceof PublishableError, String(error));
            const kind = verdict === 'rejected' ? 'refused' : 'retry';
            assert.deepEqual([error.kind, error.code], [kind, code], error.message);
            return true;
          });
          return;
        }
        const { index, contents } = await reading;
        assert.deepEqual(contents, holds);
        assert.deepEqual(
          index.notes.map((note) => note.code),
          code === undefined ? [] : [code],
        );
      });
    }
  }
});
