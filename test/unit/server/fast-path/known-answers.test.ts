// Answers that were decided before: found only where deciding again would give the same, and bounded.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '#platform/runtime/clock.ts';
import { silentLogger } from '#platform/runtime/logger.ts';
import type { FileBody } from '#server/answer/body-at-once.ts';
import { siteHeaders } from '#server/answer/reply.ts';
import type { SiteServing } from '#server/answer/site-handler.ts';
import { createBodyCache } from '#server/content/body-cache.ts';
import { goLive, type LiveBundle } from '#server/content/live-bundle.ts';
import { createLiveSite, type LiveSite, type SiteView } from '#server/content/live-site.ts';
import { createKnownAnswers, type KnownAnswers } from '#server/fast-path/known-answers.ts';
import { plainAnswerer } from '#server/fast-path/plain-answer.ts';
import type { AnswerPlainly } from '#server/fast-path/plain-connections.ts';
import { readPlainRequest } from '#server/fast-path/plain-request.ts';
import * as fc from '../../../support/properties.ts';
import { words } from '../../../support/words.ts';
import { markdownExtension, storedBundle } from '../fixtures.ts';

const page = 'a page that is worth compressing. '.repeat(30);
const versions: readonly Readonly<Record<string, string>>[] = [
  {
    ...{ 'page.html': page, 'page.md': '# page', 'old.0123abcd.js': 'hashed', 'a b.html': 'spaced' },
    '404.html': 'none here',
  },
  { 'page.html': `${page}2`, 'new.0123abcd.js': 'hashed', 'folder/index.html': 'in a folder' },
];
const compressed = 'compressed, or so it seems';

function bundleOf(version: number): LiveBundle {
  return goLive(storedBundle(versions[version] ?? assert.fail()));
}

function attachVariants(bundle: LiveBundle): void {
  const ordinal = bundle.stored.index.files.findIndex(({ path }) => path === 'page.html');
  const form = { offset: 0, size: compressed.length, tag: '"compressed"' };
  const find = (at: number, encoding: string) => (at === ordinal && encoding === 'br' ? form : undefined);
  bundle.attach(
    { find, counts: { br: 1, gzip: 0 }, sizeBytes: form.size },
    storedBundle({ 'page.html': compressed }),
  );
}

function answererOf(site: LiveSite): AnswerPlainly {
  const serving: SiteServing = {
    site,
    cache: createBodyCache(1024 * 1024),
    // A real pace would answer by a promise after a slow read, and a busy machine makes reads slow.
    pace: { isQuick: () => true, measure: (read) => read() },
    always: siteHeaders('Cloud'),
    countReply: () => {},
    clock: { ...systemClock, now: () => 0 },
    logger: silentLogger,
  };
  return plainAnswerer(serving, () => 75_000);
}

function askOf(answer: AnswerPlainly, text: string): string {
  let sent = '';
  const answered = answer(Buffer.from(text, 'latin1'), (head, lastFields, body) => {
    sent = `${head}${lastFields}${body}`;
    return true;
  });
  return `${answered} ${sent}`;
}

const targets = words(
  '/page /page.html /page.md /page/index.html.md /old.0123abcd.js /new.0123abcd.js /a%20b /folder /no /page?x',
);
const fieldLines = [
  '',
  'Accept-Encoding: br\r\n',
  'Accept-Encoding: gzip, br;q=0.5\r\n',
  'User-Agent: x\r\nAccept-Encoding: br\r\n',
  'If-None-Match: *\r\n',
  'Range: bytes=1-2\r\n',
  'Accept: text/markdown\r\n',
  'Accept: text/html, text/markdown;q=0.5\r\nAccept-Encoding: br\r\n',
];
const textOf = (target: string, fields = '', method = 'GET'): string =>
  `${method} ${target} HTTP/1.1\r\nHost: a\r\n${fields}\r\n`;

const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('request' as const),
      target: fc.constantFrom(...targets),
      fields: fc.constantFrom(...fieldLines),
      method: fc.constantFrom('GET', 'GET', 'GET', 'HEAD'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('swap' as const), version: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('variants' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('markdown' as const) }) },
);

test('whatever is requested, swapped, compressed and made: an answer is the one that would be decided now', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const site = createLiveSite(2);
      const answer = answererOf(site);
      for (const one of steps) {
        if (one.kind === 'swap') {
          site.swap({ bundle: bundleOf(one.version), version: 'v', activatedAt: 0, provenance: 'disk' });
        } else if (one.kind === 'markdown') {
          const bundle = site.view()?.active.bundle;
          bundle?.extend(markdownExtension(bundle.stored));
          site.refresh();
        } else if (one.kind === 'variants') {
          const view = site.view();
          if (view !== undefined) attachVariants(view.active.bundle);
        } else {
          const text = textOf(one.target, one.fields, one.method);
          assert.equal(askOf(answer, text), askOf(answererOf(site), text));
        }
      }
    }),
    { numRuns: 500 },
  );
});

function viewOf(bundle: LiveBundle): SiteView {
  const site = createLiveSite(2);
  site.swap({ bundle, version: 'v', activatedAt: 0, provenance: 'disk' });
  return site.view() ?? assert.fail();
}

function bodyIn(view: SiteView): FileBody {
  const route = view.find('/page');
  if (route?.kind !== 'file') assert.fail();
  return { kind: 'file', route, variant: undefined, contentKey: 'key', start: 0, endExclusive: 3 };
}

/** @returns whether it is known now */
function rememberIn(known: KnownAnswers, view: SiteView, text: string, head = 'head'): boolean {
  known.find(text, view);
  known.remember(text, readPlainRequest(text) ?? assert.fail(), { head, body: bodyIn(view) });
  return known.find(text, view)?.head === head;
}

test('only a plain GET of a target without a query is remembered', () => {
  const rows: readonly (readonly [string, string, boolean])[] = [
    ['a plain GET', textOf('/page'), true],
    ['one with an encoding', textOf('/page', 'Accept-Encoding: br\r\n'), true],
    ['HEAD', textOf('/page', '', 'HEAD'), false],
    ['a query, which seldom comes again', textOf('/page?x=1'), false],
    ['If-None-Match', textOf('/page', 'If-None-Match: "x"\r\n'), false],
    ['If-Match', textOf('/page', 'If-Match: "x"\r\n'), false],
    ['a range', textOf('/page', 'Range: bytes=0-\r\n'), false],
    ['If-Range', textOf('/page', 'If-Range: "x"\r\n'), false],
    ['a wish for Markdown', textOf('/page', 'Accept: text/markdown\r\n'), false],
    ['what a browser accepts', textOf('/page', 'Accept: text/html,*/*;q=0.8\r\n'), true],
    ['a long target', textOf(`/${'x'.repeat(300)}`), false],
    ['long fields', textOf('/page', `Cookie: ${'x'.repeat(3000)}\r\n`), false],
  ];
  const view = viewOf(bundleOf(0));
  for (const [name, text, isRemembered] of rows) {
    assert.equal(rememberIn(createKnownAnswers(), view, text), isRemembered, name);
  }
});

test('clients with other fields share an answer once each was read, unless they accept other forms', () => {
  const view = viewOf(bundleOf(0));
  const known = createKnownAnswers();
  const [one, other, third] = ['br', 'br;q=1', 'gzip'].map((value) =>
    textOf('/page', `Accept-Encoding: ${value}\r\n`),
  );
  assert.ok(rememberIn(known, view, one ?? ''));
  assert.equal(known.find(other ?? '', view), undefined);
  assert.ok(rememberIn(known, view, (other ?? '').replace('/page', '/page.html')));
  assert.equal(known.find(other ?? '', view)?.head, 'head');
  assert.ok(rememberIn(known, view, (third ?? '').replace('/page', '/page.html')));
  assert.equal(known.find(third ?? '', view), undefined);
});

test('a former bundle: its asset is not remembered, because its variants are not watched', () => {
  const former = viewOf(bundleOf(0));
  const known = createKnownAnswers();
  const now = viewOf(bundleOf(1));
  const text = textOf('/page');
  known.find(text, now);
  known.remember(text, readPlainRequest(text) ?? assert.fail(), { head: 'head', body: bodyIn(former) });
  assert.equal(known.find(text, now), undefined);
});

test('many targets and many clients stay within the bound, and what is requested again stays', () => {
  const view = viewOf(bundleOf(0));
  const known = createKnownAnswers(10_000);
  assert.ok(rememberIn(known, view, textOf('/hot')));
  for (let at = 0; at < 1000; at += 1) {
    assert.ok(rememberIn(known, view, textOf(`/${at}`)));
    assert.ok(known.find(textOf('/hot'), view), `${at}`);
  }
  const left = Array.from({ length: 1000 }, (_, at) => known.find(textOf(`/${at}`), view));
  assert.ok(left.filter((one) => one !== undefined).length < 100);
  for (let at = 0; at < 200; at += 1)
    assert.ok(rememberIn(known, view, textOf('/hot', `User-Agent: ${at}\r\n`)));
  assert.equal(known.find(textOf('/hot', 'User-Agent: 0\r\n'), view), undefined);
});
