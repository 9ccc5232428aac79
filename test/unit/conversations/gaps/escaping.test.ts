// Whatever a visitor, an assistant or a vendor writes, a report has the same structure: the same elements and attributes in
// HTML, the same lines and cells in Markdown.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type DefaultTreeAdapterTypes, parse } from 'parse5';
import { htmlReport } from '#conversations/gaps/html.ts';
import { code, markdownReport } from '#conversations/gaps/markdown.ts';
import type { GapReport } from '#conversations/gaps/report-schema.ts';
import * as fc from '../../../support/properties.ts';
import { reportOf, site, times, turn } from './sample-report.ts';

const hostile = fc.oneof(
  fc.constantFrom(
    '</style><script>alert(1)</script>',
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    '<!--',
    ']]>',
    '</li></ul></main>',
    '`` | `x` |',
    '\\|',
    '|---|\n## heading\n- list',
    '[link](https://evil.example) https://evil.example @admin #1',
    '::set-output name=x::y\n##[error]x',
    '&lt;b&gt; &amp;',
    '\u202e\u0000\ud800',
  ),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 80 }),
);

/** Every text of others, in each place of a report. */
function reportWith(text: string): GapReport {
  const base = reportOf(
    [
      ...times(6, () => turn({ resolution_status: 'unanswered', cites: [`${site}/gone`, `${site}/guide`] })),
      ...times(3, () => turn({ timestamp: '2026-11-20T00:00:00.000Z' })),
    ],
    { bundle: { version: 'v-1', files: { 'guide/index.html': '', 'index.html': '' } } },
  );
  const closed = { version: text, before: { turns: 9, unanswered: 9 }, after: { turns: 20, unanswered: 0 } };
  return {
    ...base,
    project: text,
    bundle: { version: text, digest: 'a'.repeat(64) },
    gaps: base.gaps.flatMap((gap) => {
      const named = {
        ...gap,
        pages: [text, text],
        ...(gap.kind === 'page' ? { category: text, page: text } : { question: text }),
      };
      return [
        named,
        { ...named, state: 'Closed' as const, closed },
        { ...named, state: 'TooFewTurns' as const, waiting: { version: text, turns: 1 } },
      ];
    }),
    questions: base.questions.map((one) => ({ ...one, question: text, pages: [text] })),
    pages: base.pages.map((one) => ({ ...one, page: text })),
    cells: base.cells.map((one) => ({ ...one, category: text, page: text })),
    citedUnanswered: base.citedUnanswered.map((one) => ({ ...one, host: text, page: text })),
    unmet: {
      searches: [{ text, searches: 1, turns: 1, unanswered: 1 }],
      addresses: [{ page: text, requests: 1, citedTurns: 1 }],
    },
    missingPages: base.missingPages.map((one) => ({ ...one, host: text, page: text })),
  };
}

function structureOf(html: string): readonly string[] {
  const found: string[] = [];
  const visit = (node: DefaultTreeAdapterTypes.Node): void => {
    if ('tagName' in node) found.push(`<${node.tagName} ${node.attrs.map(({ name }) => name).join(' ')}>`);
    else if (node.nodeName !== '#text' && node.nodeName !== '#document') found.push(node.nodeName);
    if ('childNodes' in node) for (const child of node.childNodes) visit(child);
  };
  visit(parse(html));
  return found;
}

const plainHtml = structureOf(htmlReport(reportWith('plain')));

test('HTML has the same elements and attributes, whatever its texts are', () => {
  assert.ok(plainHtml.length > 100);
  fc.assert(
    fc.property(hostile, (text) => {
      assert.deepEqual(structureOf(htmlReport(reportWith(text))), plainHtml);
    }),
    { numRuns: 60 },
  );
});

test('HTML loads nothing, runs nothing, and says so to the browser', () => {
  const html = htmlReport(reportWith('plain'));
  assert.match(
    html,
    /<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">/,
  );
  assert.doesNotMatch(html, /<script|<link|<img|<iframe|\bsrc=|\bhref=|url\(|@import|\bon[a-z]+=/i);
});

/** Takes code spans away, as CommonMark finds them: a run of grave accents up to the next run of the same length. */
function withoutCode(line: string): string {
  const open = /`+/.exec(line);
  if (open === null) return line;
  const [fence] = open;
  const rest = line.slice(open.index + fence.length);
  const close = [...rest.matchAll(/`+/g)].find(([run]) => run === fence);
  if (close === undefined) return line;
  const after = rest.slice(close.index + fence.length);
  return `${line.slice(0, open.index)}<code>${withoutCode(after)}`;
}

/** GitHub splits a row at each bar that no backslash precedes, before it looks for code. */
const cellsOf = (line: string): number =>
  (line.match(/(?:\\.|[^|\\])+|\|/g) ?? []).filter((part) => part === '|').length;
const shapeOf = (lines: readonly string[]): readonly string[] =>
  lines.map((line) => `${cellsOf(line)} ${withoutCode(line)}`);

const plainMarkdown = shapeOf(markdownReport(reportWith('plain')));

test('Markdown has the same lines and cells, and each text is in a code span', () => {
  assert.ok(plainMarkdown.length > 40);
  fc.assert(
    fc.property(hostile, (text) => {
      if (code(text) === '') return;
      const lines = markdownReport(reportWith(text));
      assert.deepEqual(shapeOf(lines), plainMarkdown);
      for (const line of lines) assert.doesNotMatch(line, /\n|^\s*::|##\[/);
    }),
    { numRuns: 200 },
  );
});
