// Whoever reads text that a stranger wrote (a request, an archive's names, an answer of the API or of an origin) costs
// no more than its length: a hundred thousand of what it stops at, of every kind, is read to its end. A reader that is not
// linear would take half a minute for one of these, and the guard ends it, which is why no time is measured here.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { detectType } from '#bundle/archive/archive-type.ts';
import { readFilePath } from '#bundle/archive/entry-path.ts';
import { createHiddenLinks } from '#bundle/archive/hidden-links.ts';
import { contentTypeOf } from '#bundle/content-type.ts';
import { judgeAnswer } from '#bundle/fetch/link-answer.ts';
import { defaultLimits } from '#bundle/limits.ts';
import { pageOfTwinName, twinNames } from '#bundle/markdown-twin.ts';
import { canonicalEdits } from '#bundle/repair/canonical-rule.ts';
import { linkedPaths, relativeEdits } from '#bundle/repair/page-links.ts';
import { describeSite } from '#bundle/repair/repair-site.ts';
import { searchBoxEdits } from '#bundle/repair/search-box-rule.ts';
import { sitemapEdits } from '#bundle/repair/sitemap-rule.ts';
import { createTypeJudge } from '#bundle/site-types.ts';
import { countPages } from '#bundle/store/digest.ts';
import { isHiddenFile } from '#bundle/store/hidden-files.ts';
import { pageTextHash } from '#conversations/gaps/page-text.ts';
import { questionWords } from '#conversations/gaps/question-words.ts';
import { shownQuestion } from '#conversations/gaps/shown-question.ts';
import { createTextRedaction, redactionKinds } from '#conversations/redaction.ts';
import { readForeignInstant } from '#export-api/instants.ts';
import { readJobId, readJobReport, readPercent } from '#export-api/job-answers.ts';
import { readListingQuery } from '#export-service/conversations/listing-query.ts';
import { originTypeOf } from '#export-service/crawler/origin/origin-types.ts';
import { readRobots } from '#export-service/crawler/origin/robots.ts';
import { editVendored } from '#export-service/crawler/rewrite/vendor-edits.ts';
import { dropSessionIds } from '#export-service/crawler/session-ids.ts';
import { judgeLink } from '#export-service/links.ts';
import { parseVerifyKey, signatureKeyId } from '#mirror/kit/minisign.ts';
import { nameWithoutHash } from '#mirror/kit/pairing.ts';
import { nextPage } from '#mirror/registry/answer.ts';
import { readChallenges } from '#mirror/registry/challenge.ts';
import { findCredentials } from '#mirror/registry/docker-config.ts';
import { readRepository } from '#mirror/registry/repository.ts';
import { findHeadEnd } from '#platform/html/head-end.ts';
import { readSrcset } from '#platform/html/srcset.ts';
import { parseHttpDate, parseRetryAfter } from '#platform/wire/retry-after.ts';
import { assetNaming } from '#server/content/asset-name.ts';
import { buildRouteTable } from '#server/content/route-table.ts';
import { readByteRange } from '#server/http/byte-range.ts';
import { acceptedForms } from '#server/http/content-encoding.ts';
import { allowsRange, findKnownTag, matchesStrongly, type SendableForms } from '#server/http/entity-tag.ts';
import { prefersMarkdown } from '#server/http/media-type.ts';
import { readRequestPath } from '#server/http/request-path.ts';
import { readLoads } from '#site/check/loads.ts';
import { plainContent } from '#site/markdown/content-html.ts';
import { readPageText } from '#site/pages/page-text.ts';
import { pageEdits } from '#site/portable/page-edits.ts';
import { addressesOf } from '#site/portable/relocation.ts';
import { createSiteFiles } from '#site/portable/site-files.ts';
import { readSprite } from '#site/portable/sprites.ts';
import { manifestEdits, styleEdits } from '#site/portable/text-edits.ts';
import { isAppShell } from '#site/references/app-shell.ts';
import { decodeBody } from '#site/references/body-text.ts';
import { readCssReferences } from '#site/references/css-references.ts';
import { readHtmlReferences } from '#site/references/html-references.ts';
import { readManifestReferences } from '#site/references/manifest-references.ts';
import { readModuleImports } from '#site/references/module-imports.ts';
import { readPayload } from '#site/references/next-payload.ts';
import { readPagefindMeta } from '#site/references/pagefind-index.ts';
import { readPositions } from '#site/references/positions.ts';
import { readScriptReferences } from '#site/references/script-references.ts';
import {
  readPageSearch,
  readSearchData,
  readSearchLiterals,
  readVersionList,
  recogniseIndex,
} from '#site/references/search-index.ts';
import { markText } from '#site/search/excerpts.ts';
import { decodeNumbers } from '#site/search/postings.ts';
import { readQuery } from '#site/search/query.ts';
import { siteTitles } from '#site/search/site-titles.ts';
import { createScope } from '#site/site-scope.ts';
import { readLlmsText, readSitemap } from '#site/sitemap.ts';
import { runToItsEnd } from '../support/watchdog.ts';
import { bundleOf } from './server/fixtures.ts';

const longest = 100_000;
const table = buildRouteTable(bundleOf(['404.html', 'a/404.html', 'a/b/404.html']));
const entityTag = `"${'0'.repeat(32)}"`;
const site = createScope('docs.example.com', new URL('http://127.0.0.1:4000/'));
const copied = new URL('https://docs.example.com/');
const noPositions = { positions: [], scripts: [], data: [], counted: [], connections: [], policies: [] };
const copies = {
  paths: new Map([['https://a.example/x', '_v/x.js']]),
  hosts: ['a.example'],
  basePath: '',
  dropsConnection: () => true,
};
const forms: SendableForms = { tags: [entityTag, '"x"'], entityTag, encodings: ['br', 'gzip'] };
const roomy = { ...defaultLimits, maxPathBytes: 2 * longest, maxPathSegments: longest };

interface Reader {
  readonly read: (text: string) => unknown;
  readonly openings: readonly string[];
  /** Where a reader itself cuts its text, or works with a constant that is large. */
  readonly most?: number;
  /** In place of those that all readers get, where a reader needs a longer text to show what it costs. */
  readonly fillings?: readonly string[];
}

const readers: Readonly<Record<string, Reader>> = {
  'Accept-Encoding': { read: acceptedForms, openings: ['', 'br', 'br;', 'br;q', 'br;q=', 'br;q=0'] },
  Accept: {
    read: prefersMarkdown,
    openings: ['text/markdown', 'text/markdown;', 'text/markdown;q=', 'text/markdown;a="'],
  },
  'If-None-Match': { read: (text) => findKnownTag(text, forms), openings: ['', '"', '"a"', 'W/'] },
  'If-Match': { read: (text) => matchesStrongly(text, forms), openings: ['', '"', '"a"', 'W/'] },
  'If-Range': { read: (text) => allowsRange(text, '"x"'), openings: ['', '"a"'] },
  Range: {
    read: (text) => readByteRange(text, 100),
    openings: ['', 'bytes', 'bytes=', 'bytes=0', 'bytes=0-', 'bytes=0-1'],
  },
  target: {
    read: (text) => readRequestPath(text, '/docs'),
    openings: ['', '/', '/docs/', 'http://', 'http://a/', '/?'],
  },
  'a path that is absent': { read: table.findNotFoundPage, openings: ['/', '/a/', '/a/b/'] },
  "a file's name": {
    read: (name) => {
      assert.doesNotThrow(() => [isHiddenFile(name), assetNaming(name), contentTypeOf(name)]);
      countPages([{ path: name }]);
    },
    openings: ['', 'assets/', 'assets/a.', 'assets/a-', 'a.'],
    most: defaultLimits.maxPathBytes,
  },
  'a name with a content hash': {
    read: nameWithoutHash,
    openings: ['', 'assets/', 'assets/a.', 'a-'],
    most: defaultLimits.maxPathBytes,
  },
  'a content type that an export kept': {
    read: (text) => createTypeJudge()('feed', text),
    openings: ['', 'image/', 'application/', 'application/x+', 'text/plain; charset='],
  },
  'a content type of an origin': {
    read: originTypeOf,
    openings: ['', 'text/plain', 'text/plain;', 'text/plain; charset=', 'text/plain; charset="'],
  },
  "a kit's signature and key": {
    read: (text) => {
      parseVerifyKey(text);
      assert.throws(() => signatureKeyId(text));
    },
    openings: ['', 'RW', 'untrusted comment: x\n', 'untrusted comment: x\nRU'],
  },
  "an entry's name": {
    read: (name) => {
      try {
        readFilePath(name, roomy);
      } catch {
        // Refused, which is the end too.
      }
    },
    openings: ['', './', 'a/'],
  },
  'links of a page to hidden files': {
    read: (text) => createHiddenLinks().read('a.html')?.(Buffer.from(`/.x${text}`)),
    openings: ['', '<a href="/.', '<a href=/.', 'href', 'href=', 'href ="/.cmd', '/.x ', 'src="/.a">'],
  },
  'a page that is repaired': {
    read: (text) => {
      canonicalEdits(`<p title=null>${text}`, '/a', { word: 'strip' });
      searchBoxEdits(`<p class="md-search">${text}`, false);
      relativeEdits(text, 'index/');
      linkedPaths(text, 'a/index.html');
    },
    openings: [
      '',
      '<',
      '<a href="',
      '<link rel=canonical href="https://undefined.',
      '<link rel=canonical href="',
      '<style>url(',
      '<p style="url(',
      '<img srcset="/a 1x,',
      '<meta http-equiv=refresh content="1',
    ],
  },
  'a sitemap that is repaired': {
    read: (text) => sitemapEdits(text, describeSite([{ path: 'a.html', size: 0 }])),
    openings: [
      '',
      '<url>',
      '<url><loc>',
      '<url><loc>https://a/',
      '<!--',
      '<url><![CDATA[',
      '<url><loc>x</loc>',
    ],
  },
  'the content of a page': {
    read: (text) => plainContent(text, (address) => address),
    openings: ['', '<table><td>', '<pre>'],
  },
  "a name of a page's Markdown": {
    read: (text) => [pageOfTwinName(`${text}.md`, () => false), twinNames(`${text}.html`, () => false)],
    openings: ['', 'index.html', '/index', 'a.html.html'],
  },
  "a page's place for one more element of its head": {
    read: (text) => findHeadEnd(text),
    openings: [
      '',
      '<!doctype html><head><',
      '<meta http-equiv=content-security-policy content="',
      '<template>',
    ],
  },
  "an archive's head": { read: (text) => detectType(Buffer.from(text)), openings: ['', '<', ' <html'] },
  "a storage's refusal": {
    read: (text) => judgeAnswer({ status: 400, bodyStart: text, clock: 0 }),
    openings: ['', 'token', 'token has', 'link is ', 'link is not '],
    most: 8192,
  },
  "an API's instant": {
    read: (text) => [readForeignInstant(text), parseHttpDate(text), parseRetryAfter(text, 0)],
    openings: ['', '2026-01-01', '2026-01-01 10:00', '2026-01-01T10:00:00.', 'Sat, 21 Nov', 'Sat ('],
  },
  "an API's progress and job": {
    read: (text) => [readPercent(text), readJobId(undefined, text)],
    openings: ['', '1', '1.5', '1 of', '/static-export/jobs/', '/static-export/jobs/a'],
  },
  "a page's text": {
    read: (text) => readPageText(text),
    openings: [
      '',
      '<h1>',
      '<main><h1><a href="#',
      '<div hidden>',
      '<article class="',
      '<title>',
      '<nav><main>',
    ],
  },
  "a search's words": {
    read: (text) => [
      markText(text, new Set(['x']), 'ja'),
      readQuery(text, 'de'),
      decodeNumbers(text),
      siteTitles([{ shown: text, full: text }]),
    ],
    openings: ['', 'a', 'a.', 'aB', '漢', 'a - '],
  },
  'a page': {
    read: (text) => readHtmlReferences(text),
    openings: [
      '',
      '<',
      '<a ',
      '<a href="',
      '<a href=',
      '<!--',
      '<svg><![CDATA[',
      '<script>',
      '<style>',
      '<meta content="1',
    ],
  },
  'a page that is made portable': {
    read: (text) => {
      const addresses = addressesOf('a/b.html', { files: createSiteFiles(['a/b.html', 'c']), basePath: '' });
      pageEdits(text, addresses, '../x.js');
      styleEdits(text, addresses, () => {});
      manifestEdits(text, addresses, () => {});
      readSprite('a.svg', text);
    },
    openings: [
      '',
      '<',
      '<a href="/c?&amp;',
      '<img srcset="/c 1x,',
      '<p style="a:url(&quot;/c',
      '<style>@import "/c',
      '<meta http-equiv=refresh content="1;url=/c',
      '<script type=module>import',
      '<script>serviceWorker',
      '<link rel=preload href=/c ',
      '<base href="/c/',
      'url(/c',
      'url("/c',
      '"src":"/c',
      '<g id=a>',
      '<use href=/c#a>',
    ],
    most: 20_000,
  },
  'where addresses stand': {
    read: (text) => {
      for (const kind of ['document', 'script', 'manifest', 'payload', 'contents', 'sitemap'] as const)
        readPositions(kind, text);
    },
    openings: [
      '',
      '<',
      '<a href="/',
      '<img srcset="/a 1x,',
      '<meta http-equiv=refresh content="1',
      '<script>self.__next_f.push([1,"',
      '1:T9,',
      '"href":"',
      '<loc>',
      '](/',
      '<script></script>',
      '<link href=a integrity="',
      '<script type=importmap>{"integrity":{',
      '<script type=importmap>{"integrity":{"a":"b","',
    ],
  },
  'what a body loads': {
    read: (text) => {
      for (const kind of ['document', 'style', 'manifest'] as const) readLoads(kind, text);
    },
    openings: [
      '',
      '<',
      '<link rel="',
      '<script type="',
      '<img srcset="/a 1x,',
      '<p style="url(',
      '<style>@font-face{',
      '<script type=importmap>{"imports":{"',
      '<script type=importmap>{"a":"/',
      '{"icons":[{"src":"',
    ],
  },
  'the charset of a page': {
    read: (text) => decodeBody(Buffer.from(text), `text/html; charset=${text.slice(0, 8192)}`, 'html'),
    openings: [
      '',
      '<meta ',
      '<meta charset=',
      '<meta http-equiv=content-type content="charset',
      '<?xml encoding',
    ],
  },
  'session ids in links': {
    read: (text) => dropSessionIds(site, { path: '/', query: '' }, Buffer.from(`;jsessionid=1 ${text}`)),
    openings: [
      '',
      '<a href=";jsessionid=1',
      '<img srcset="/a;jsessionid=1,',
      '<b style="a:url(a),',
      '/(A(x)S(',
    ],
  },
  'a style sheet': {
    read: readCssReferences,
    openings: ['', 'url(', 'url("', '@import ', '/*', 'a{b:', 'image-set('],
  },
  'a manifest': { read: readManifestReferences, openings: ['', '{', '[', '{"icons":['] },
  'robots.txt': {
    read: (text) => readRobots(site, text.replaceAll(',', '\n')).isAllowed({ path: '/a', query: '' }),
    openings: ['', 'User-agent: *,Disallow: /', 'Sitemap:'],
  },
  'a srcset': { read: (text) => [...readSrcset(text)], openings: ['', 'a', 'a ', 'a ('] },
  'a script': {
    // What comes first lets no pattern be skipped, here and below.
    read: (text) => readScriptReferences(`"b/"+${text}`, ['/assets/app.js']),
    openings: ['', '"a/', '"a/b.js', '"a/"+', '"a/"+{', '"a/"+({1:"b"}[e]||e)+"."+{1:"'],
    most: 50_000,
  },
  'the imports of a script': {
    read: (text) => readModuleImports(text),
    openings: ['', 'from', 'import', 'import "/', 'import("//', 'export * from "./', 'import "/x";'],
  },
  'copies of assets in a script and in a page': {
    read: (text) => [
      editVendored({ role: 'script', source: text, base: copied, ...noPositions }, copies),
      editVendored(
        { ...readPositions('document', text), role: 'document', source: text, base: copied },
        copies,
      ),
    ],
    openings: [
      '',
      '"https://a.example/x',
      '"//',
      '"https:\\/\\/',
      '"https://a.example/x 1x, ',
      '<p x="{',
      '<meta http-equiv=content-security-policy content="',
    ],
    most: 50_000,
  },
  'copies of assets in HTML that data carry': {
    read: (text) => [
      editVendored({ role: 'other', source: text, base: copied, ...noPositions }, copies),
      ...(['payload', 'document'] as const).map((role) => {
        const source = role === 'document' ? `<p x="{a.example${text}">` : text;
        return editVendored({ ...readPositions(role, source), role, source, base: copied }, copies);
      }),
    ],
    openings: [
      '',
      '"html":"',
      '\\"html\\":\\"',
      '"html":"https://a.example/x<img src=\\"',
      '\\\\\\"html\\\\\\":\\\\\\"a.example',
      ...[
        'a.example:"<p>',
        '[\\"<p>a.example',
        ':\\\\\\"<p>a.example',
        'a.example<',
        ':"\\n',
        '&quot;:',
        '&#60;',
      ],
      ...['1:T10,<p>a.example', '"a":"$1"', ':"[\\"a.example<br>'],
    ],
    most: 50_000,
  },
  'the set of pictures in HTML that data carry': {
    read: (text) => {
      const member = `"body":"<p>a.example<img srcset='${text}'></p>"`;
      const source = `{${[member, member, member, member].join(',')}}`;
      editVendored({ role: 'other', source, base: copied, ...noPositions }, copies);
    },
    openings: [''],
    most: 260_000,
    fillings: ['a, '],
  },
  'the shell of an app': {
    read: (text) => isAppShell(text),
    openings: ['', '<script>', '<noscript>', '<template>', '<h1', 'a '],
  },
  'the search of a script and of a page': {
    read: (text) => [
      readSearchLiterals([`search ${text}`], ['/assets/app.js']),
      readPageSearch(`docusaurus_ ${text}`, '/docs/a', ['/assets/js/app.js']),
      recogniseIndex('/a/index.json', Buffer.from(text)),
    ],
    openings: ['', '"', '"a/', '"a/index.json', '"search-index', '<meta name="docusaurus_tag"', '[ {'],
  },
  "a search tool's data": {
    read: (text) => {
      for (const name of [
        'pagefind-entry.json',
        'search_index.json',
        'versions.json',
        'pagefind.en.pf_meta',
      ]) {
        readSearchData(`/a/${name}`, Buffer.from(text));
        readVersionList(`/a/${name}`, Buffer.from(text));
      }
      readPagefindMeta(Buffer.from(`pagefind_dcd${text}`, 'latin1'));
    },
    openings: [
      '',
      '{',
      '{"languages":{',
      '[{"version":"',
      '{"config":{"lang":["',
      '\x81',
      '\x82\x60\x81\x81',
    ],
  },
  'a sitemap': {
    read: (text) => [readSitemap(Buffer.from(text)), readLlmsText(text)],
    openings: ['', '<loc>', '<xhtml:link ', '<xhtml:link href="', '<!--', '](', '<'],
  },
  "a page's data": {
    read: (text) => readPayload('/a/__next._tree.txt', text),
    openings: ['', '0:', '0:[', '0:"'],
  },
  "a registry's challenge": {
    read: readChallenges,
    openings: ['', 'Bearer ', 'Bearer realm=', 'Bearer realm="', 'Basic realm="x", '],
  },
  "a registry's next page": {
    read: (text) => {
      try {
        nextPage(new URL('https://registry.example.com/v2/docs/tags/list'), text);
      } catch {
        // Refused, which is the end too.
      }
    },
    openings: ['', '<', '</v2/docs/>', '</v2/docs/>; ', '</v2/docs/>; rel="'],
  },
  "a repository's address": {
    read: (text) => {
      try {
        readRepository(text);
      } catch {
        // Refused, which is the end too.
      }
    },
    openings: ['', 'oci://', 'oci://a/', 'oci://a/a'],
  },
  'a key of a docker config': {
    read: (key) => findCredentials(JSON.stringify({ auths: { [key]: {} } }), readRepository('oci://a.b/c')),
    openings: ['', '*', '*.', 'https://', 'a.b/'],
  },
  'a text that is redacted': {
    read: createTextRedaction({ kinds: redactionKinds, key: 'k' }),
    openings: [
      '',
      '-----BEGIN PRIVATE KEY-----',
      'eyJ',
      'Bearer ',
      'sk-',
      'password=a',
      'token: a',
      'a@',
      '1.1.1.',
      '::',
    ],
    most: 20_000,
  },
  'words of an export API': {
    read: (text) => readJobReport({ status: 'failed', error: text }, 'svc_topsecret'),
    openings: ['', 'a@', '1.2.3.', '::', 'https://', 'https://a:', 'ghp_', '%41', 'key-', 'token=a'],
  },
  "a visitor's question": {
    read: (text) => [questionWords(text), shownQuestion(text)],
    openings: ['', 'a@', 'https://a/?', 'key-', 'self ', 're-', '+1'],
  },
  'the text of a page': {
    read: (text) => pageTextHash(text),
    openings: ['', '<', '<img alt="', '<!--', '<main><nav>'],
  },
  'a date of a query': {
    read: (text) => {
      try {
        return readListingQuery(new URLSearchParams({ dateFrom: text }));
      } catch {
        return undefined;
      }
    },
    openings: ['', '2026-01-01', '2026-01-01T10:00:00.'],
  },
  "an archive's link": {
    read: (text) => judgeLink(Buffer.from('secret'), 'GET', text, 0),
    openings: ['', '/bundles/', '/bundles/a/bundle.tar.gz?expires='],
  },
};

const usualFillings = [
  ...[
    ' ',
    '\t',
    '\n',
    ' \t',
    ',',
    ', ',
    ';',
    ':',
    '=',
    '-',
    '.',
    '/',
    '*',
    '"',
    "'",
    '(',
    ')',
    '<',
    '>',
    '[',
  ],
  ...[
    ',"',
    '"",',
    ',W/"',
    ',"a" ',
    '0',
    'a',
    'A',
    '_',
    '%',
    '%41',
    '\\',
    '{',
    '}',
    '?',
    '&',
    '\xff',
    '\u2028',
  ],
  ...[
    'a.',
    'a-',
    'a/',
    '/.',
    './',
    '../',
    '//',
    'a ',
    'a:',
    'a,',
    '0.',
    '<a',
    '<loc',
    '<!--',
    '](',
    '("',
    '"a/',
  ],
  ...[
    'token ',
    'token\t\t',
    'link is ',
    '"a/"+{',
    '"/.js?',
    '0:[',
    '1x,',
    'a 1x,',
    ' x=1',
    '<svg>',
    '<script>',
    '<xhtml:link ',
    'url(',
    '\n0:',
    'href="',
    '<loc>',
    'bearer ',
    'svc_',
    'eyJ',
    'a@',
    '@a.',
    '1.',
    '-----BEGIN A',
  ],
];

for (const [name, { read, openings, most = longest, fillings = usualFillings }] of Object.entries(readers)) {
  test(`reading ${name} takes no longer than the text is long`, () => {
    for (const opening of openings) {
      for (const filling of fillings) {
        const inside = filling.repeat(Math.floor(most / filling.length));
        // Behind all of it something that none of the readers wants there, so that what began to match must give up.
        const text = `${opening}${inside};x`;
        assert.doesNotThrow(() => runToItsEnd(() => void read(text)), `${opening}${filling}…`);
      }
    }
  });
}
