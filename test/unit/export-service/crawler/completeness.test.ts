// The rules by which a crawled site is complete, as tables.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isMissing, requireComplete } from '#export-service/crawler/completeness.ts';
import { type CrawledFile, readMissingLimit, type SkippedUrl } from '#export-service/crawler/contract.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';

const home: CrawledFile = { path: 'index.html', sizeBytes: 0, sha256: '', read: async function* () {} };
const lost = (count: number, reason = 'NotFound'): readonly SkippedUrl[] =>
  Array.from({ length: count }, (_, n) => ({ path: `/lost-${n}`, reason, from: '/guide' }));
const assets = { allowedHosts: ['allowed.example'], allowsPrivate: false };
const rules = { maxMissing: { count: 20, percent: 1 }, requiresHomePage: true, assets };

function verdict(
  { files = [home], skipped = [], asked = 100 }: Partial<Parameters<typeof requireComplete>[0]>,
  changed: Partial<typeof rules> = {},
): string {
  try {
    requireComplete({ files, skipped, asked }, 'docs.example.com', { ...rules, ...changed });
    return 'complete';
  } catch (error) {
    assert.ok(error instanceof PublishableError);
    return `${error.code}: ${error.message}`;
  }
}

const verdicts: readonly (readonly [string, string, RegExp])[] = [
  ['a site without a gap is complete', verdict({}), /^complete$/],
  ['twenty missing files of a small site are allowed', verdict({ skipped: lost(20) }), /^complete$/],
  [
    'one more is too many, and the error counts and names them with the page that asks',
    verdict({ skipped: lost(21) }),
    /^SiteIncomplete: 21 of 100 pages and files that docs\.example\.com asks for are missing, and 20 are allowed: \/lost-0 \(NotFound, from \/guide\), \/lost-1 .*, …; nothing was exported; .* --max-missing$/,
  ],
  ['of a large site one percent is allowed', verdict({ skipped: lost(50), asked: 5000 }), /^complete$/],
  [
    'and not more',
    verdict({ skipped: lost(51), asked: 5000 }),
    /^SiteIncomplete: 51 of 5000 .* 50 are allowed/,
  ],
  [
    'no gap is allowed where none is to be',
    verdict({ skipped: lost(1) }, { maxMissing: { count: 0, percent: 0 } }),
    /^SiteIncomplete: 1 of 100/,
  ],
  [
    'what robots.txt refuses is not missing',
    verdict({ skipped: lost(90, 'RobotsDisallowed') }),
    /^complete$/,
  ],
  ['nor what another host has', verdict({ skipped: lost(90, 'External') }), /^complete$/],
  [
    'a page that only a sitemap names says so',
    verdict({ skipped: [{ path: '/a', reason: 'Gone' }] }, { maxMissing: { count: 0, percent: 0 } }),
    /\/a \(Gone, from the sitemap\);/,
  ],
  [
    'a site without a home page is refused, with the reason',
    verdict({ files: [], skipped: [{ path: '/', reason: 'NotFound' }] }),
    /^HomePageMissing: the home page of docs\.example\.com does not answer with a page \(NotFound\); .* --allow-missing-home-page$/,
  ],
  [
    'a load of another host without a copy fails',
    verdict({ skipped: [{ path: 'cdn.example/a.js', reason: 'ExternalFailed', from: '/guide' }] }),
    /^AssetsNotCopied: .*cdn\.example\/a\.js \(Failed, from \/guide\).*--allow-external cdn\.example$/,
  ],
  [
    'unless its host is allowed',
    verdict({ skipped: [{ path: 'allowed.example/m/', reason: 'ExternalNotTried' }] }),
    /^complete$/,
  ],
  ['unless it is allowed', verdict({ files: [] }, { requiresHomePage: false }), /^complete$/],
];
for (const [name, actual, expected] of verdicts) test(name, () => assert.match(actual, expected));

test('what counts as missing is what the site asks for and its origin does not give', () => {
  const missing = [
    'NotFound',
    'Gone',
    'AccessDenied',
    'Status418',
    'NotAnAsset',
    'RedirectLoop',
    'OriginFailed',
  ];
  const decided = [
    'SoftNotFound',
    'RobotsDisallowed',
    'External',
    'RedirectOffSite',
    'QueryVariantDiffers',
    'UnsafePath',
  ];
  const isSo = (reason: string): boolean => isMissing({ path: '/x', reason });
  assert.deepEqual([...missing, ...decided].filter(isSo), missing);
});

test('a limit is a count, a share, or both', () => {
  assert.deepEqual(['20', '1%', '20/1%', '0', '0.5%', '100%'].map(readMissingLimit), [
    { count: 20, percent: 0 },
    { count: 0, percent: 1 },
    { count: 20, percent: 1 },
    { count: 0, percent: 0 },
    { count: 0, percent: 0.5 },
    { count: 0, percent: 100 },
  ]);
  for (const text of ['', '-1', '1%/20', '101%', '20/', 'all', '1 %']) {
    assert.equal(readMissingLimit(text), undefined, text);
  }
});
