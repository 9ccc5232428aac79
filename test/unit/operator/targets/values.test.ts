// The values edit in tables: what each kind of document becomes, what is refused and in which words; and as a
// property: whatever surrounds the leaves survives byte for byte, and a second plan finds nothing to do.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { planValuesEdit, type WantedValues } from '#operator/targets/values.ts';
import { Link } from '#platform/wire/link.ts';
import * as fc from '../../../support/properties.ts';
import { textRows } from '../../../support/text-rows.ts';

const wanted: WantedValues = { enabled: true, version: '20261121-030000-0a1b2c3d' };
const linkText = 'https://storage.example.com/a.tgz?X-Sig=a%3Ab&n=1#f';

function edited(text: string, wish: WantedValues = wanted): string {
  const plan = planValuesEdit(text, wish);
  assert.equal(plan.outcome, 'edit', JSON.stringify(plan));
  return plan.outcome === 'edit' ? plan.text : '';
}

const v = '"20261121-030000-0a1b2c3d"';
/** Rows of `name | before | after`, with `\\n` for the end of a line. */
const edits = [
  ...textRows(String.raw`
    a stale version keeps its comment and its neighbours | # values\na: &x [1, 2]\nstaticExport:\n  enabled: true # on\n  version: old   # pinned\n\nb: *x\n
      | # values\na: &x [1, 2]\nstaticExport:\n  enabled: true # on\n  version: $v   # pinned\n\nb: *x\n
    single quotes stay single | staticExport:\n    enabled: true\n    version: 'old'\n
      | staticExport:\n    enabled: true\n    version: '20261121-030000-0a1b2c3d'\n
    a missing leaf follows the one before it, whatever comment comes next | staticExport:\n  enabled: true\n  # of the server\n  replicas: 2\n
      | staticExport:\n  enabled: true\n  version: $v\n  # of the server\n  replicas: 2\n
    leaves missing altogether come first in the group | staticExport: # ours\n    # replicas\n    replicas: 2\nz: 1\n
      | staticExport: # ours\n    enabled: true\n    version: $v\n    # replicas\n    replicas: 2\nz: 1\n
    an absent group is appended in the indentation of the document | a:\n    b: 1\n# end\n
      | a:\n    b: 1\n# end\nstaticExport:\n    enabled: true\n    version: $v\n
    a missing final newline stays missing | a: 1 | a: 1\nstaticExport:\n  enabled: true\n  version: $v
    CRLF stays CRLF | a: 1\r\n | a: 1\r\nstaticExport:\r\n  enabled: true\r\n  version: $v\r\n
    only comments | # nothing yet\n | # nothing yet\nstaticExport:\n  enabled: true\n  version: $v\n
    an empty flow map | {}\n | {staticExport: {enabled: true, version: $v}}\n
    a null group | staticExport:\nb: 1\n | staticExport:\n  enabled: true\n  version: $v\nb: 1\n
    a group that says null | staticExport: ~ # later\n | staticExport: {enabled: true, version: $v} # later\n
    an empty group | staticExport: {}\nb: 1\n | staticExport: {enabled: true, version: $v}\nb: 1\n
    a flow group | staticExport: { enabled: false }\nb: 1\n | staticExport: { enabled: true, version: $v }\nb: 1\n
    a flow group of strangers | staticExport: {replicas: 2}\n | staticExport: {enabled: true, version: $v, replicas: 2}\n
    JSON is YAML | {"a": 1, "staticExport": {"enabled": true, "version": "old"}} | {"a": 1, "staticExport": {"enabled": true, "version": $v}}
    an empty leaf keeps the comment after it | staticExport:\n  enabled: true\n  version: # none yet\n
      | staticExport:\n  enabled: true\n  version: $v # none yet\n
    enabled in the words of YAML 1.1 becomes true for everybody | staticExport:\n  enabled: yes\n  version: $v\n
      | staticExport:\n  enabled: true\n  version: $v\n
    a kept block of text at the end is not lengthened | a: |\n  text | staticExport:\n  enabled: true\n  version: $v\na: |\n  text
    an end marker stays the end | ---\na: 1\n...\n | ---\na: 1\nstaticExport:\n  enabled: true\n  version: $v\n...\n
  `).map((cells) =>
    cells.map((cell) => cell.replaceAll('\\n', '\n').replaceAll('\\r', '\r').replaceAll('$v', v)),
  ),
  ['an empty document', '', `staticExport:\n  enabled: true\n  version: ${v}\n`],
];

for (const [name, before = '', after = ''] of edits) {
  test(`edit: ${name}`, () => {
    assert.equal(edited(before), after);
    assert.deepEqual(planValuesEdit(after, wanted), { outcome: 'in-sync' });
  });
}

test('the link is written only when asked for, and exactly', () => {
  const link = Link.parse(linkText);
  assert.ok(link);
  const text = edited('staticExport:\n  enabled: true\n  bundleUrl: "http://old/"\n', {
    ...wanted,
    bundleUrl: link,
  });
  assert.deepEqual(parse(text), {
    staticExport: { enabled: true, bundleUrl: linkText, version: wanted.version },
  });
  const untouched = 'staticExport:\n  enabled: true\n  bundleUrl: "http://old/"\n  version: x\n';
  assert.match(edited(untouched), /bundleUrl: "http:\/\/old\/"/);
});

const inSync: readonly string[] = [
  'staticExport:\n  enabled: true\n  version: 20261121-030000-0a1b2c3d\n',
  'staticExport: {enabled: true, version: "20261121-030000-0a1b2c3d"}',
  `"staticExport":\n  "enabled": True\n  "version": '20261121-030000-0a1b2c3d'\n`,
];
for (const text of inSync) {
  test(`in sync: ${JSON.stringify(text)}`, () => {
    assert.deepEqual(planValuesEdit(text, wanted), { outcome: 'in-sync' });
  });
}

const plainTraps = [
  '1.10',
  'on',
  'y',
  '0x1f',
  '1_000',
  '12:30:45',
  '2026-11-21',
  '.inf',
  '~',
  'null',
  'true',
  '',
];
for (const version of plainTraps) {
  test(`a version that looks like something else is a string for every reader: ${JSON.stringify(version)}`, () => {
    const text = edited(`staticExport:\n  enabled: true\n  version: ${version}\n`, {
      enabled: true,
      version,
    });
    for (const dialect of ['1.1', '1.2'] as const) {
      assert.deepEqual(parse(text, { version: dialect }), { staticExport: { enabled: true, version } });
    }
  });
}

const refusals: readonly (readonly [name: string, text: string, code: string, message: RegExp])[] = [
  ['two documents', 'a: 1\n---\nb: 2\n', 'MultipleDocuments', /several YAML documents/],
  ['tabs', 'a:\n\tb: 1\n', 'InvalidYaml', /TAB_AS_INDENT in line 2/],
  ['broken syntax', 'a: [1\nb: {', 'InvalidYaml', /not valid YAML/],
  ['the group twice', 'staticExport: {}\nstaticExport: {}\n', 'InvalidYaml', /key twice \(DUPLICATE_KEY\)/],
  ['a key twice far from the group', 'a: {b: {c: 1, c: 2}}\n', 'InvalidYaml', /DUPLICATE_KEY/],
  ['more than anybody reads', `a: "${'x'.repeat(256 * 1024)}"\n`, 'TooLarge', /over 256 KiB/],
  ['too many tokens', `a: [${'1,'.repeat(100_000)}]\n`, 'TooLarge', /more than 150000 tokens/],
  ['too many anchors', `a: ${'&a '.repeat(1001)}x\n`, 'TooLarge', /more than 1000 anchors/],
  ['too many aliases', `a: &a x\nb: [${'*a, '.repeat(1000)}]\n`, 'TooLarge', /more than 1000 anchors/],
  ['too many tags', `a: [${'!!str x, '.repeat(1001)}]\n`, 'TooLarge', /more than 1000 anchors/],
  ['very many documents', '---\n'.repeat(60_000), 'MultipleDocuments', /several YAML documents/],
  ['errors in one line', `a: {${'? '.repeat(70_000)}}`, 'InvalidYaml', /in line 1/],
  ['a list', '- 1\n', 'NotAMap', /not a map of values/],
  ['a group that is text', 'staticExport: on\n', 'NotAMap', /staticExport is not a map/],
  ['a group that is a list', 'staticExport: [1]\n', 'NotAMap', /staticExport is not a map/],
  ['a leaf that is a map', 'staticExport:\n  version: {a: 1}\n', 'NotAMap', /staticExport.version/],
  ['an alias for the group', 'a: &a {enabled: true}\nstaticExport: *a\n', 'SharedNode', /alias/],
  ['an anchor in the group', 'staticExport:\n  version: &v old\nb: *v\n', 'SharedNode', /anchor/],
  ['a merge key in the group', 'a: &a {v: 1}\nstaticExport:\n  <<: *a\n', 'SharedNode', /alias|merge key/],
  ['a tag in the group', 'staticExport:\n  version: !!str 1\n', 'SharedNode', /tag/],
  ['a group merged in', 'a: &a {staticExport: {x: 1}}\n<<: *a\n', 'SharedNode', /merged in by/],
  ['a leaf in a block of text', 'staticExport:\n  version: |\n    old\n', 'Uneditable', /block of text/],
];
for (const [name, text, code, message] of refusals) {
  test(`refused: ${name}`, () => {
    const plan = planValuesEdit(text, wanted);
    assert.equal(plan.outcome, 'refused', JSON.stringify(plan));
    if (plan.outcome !== 'refused') return;
    assert.equal(plan.code, code);
    assert.match(plan.message, message);
  });
}

test('a document at the bounds is edited', () => {
  const sharing = `a: &a x\nb: [${'*a, '.repeat(99)}]\nc: [${'!!str x, '.repeat(800)}]\n`;
  const tokens = Array.from({ length: 20_000 }, (_, at) => `k${at}: 1\n`).join('');
  for (const text of [sharing, tokens]) assert.ok(edited(text).startsWith(text.slice(0, 1000)));
});

test('no refusal repeats what the document says', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 60 }), (noise) => {
      const plan = planValuesEdit(`secret-in-here: [${noise}\n\t- {`, wanted);
      if (plan.outcome === 'refused') assert.doesNotMatch(plan.message, /secret-in-here/);
    }),
  );
});

// Documents are put together from lines, as people write them, not from a serialiser's single style.
const name = fc.stringMatching(/^[a-z]{1,6}$/);
const scalar = fc.constantFrom('1', 'on', '"q # q"', "'it''s'", '*shared', '[1, {a: b}]', '1.10', 'a b', '');
const comment = fc.constantFrom('', ' # why', '   #');
const entry = fc.tuple(name, scalar, comment).map(([key, value, note]) => (indent: string) => [
  `${indent}${key}: ${value}${note}`,
]);
const blockText = name.map((key) => (indent: string) => [
  `${indent}${key}: |`,
  `${indent}  two`,
  '',
  `${indent}  lines`,
]);
const noteLine = fc.constantFrom('# note', '', '  # odd').map((line) => (_indent: string) => [line]);
const lines = fc.array(fc.oneof(entry, blockText, noteLine), { maxLength: 5 });
const leafLine = fc.constantFrom(
  'ref: "oci://old"',
  'version: old',
  "version: 'old' # pin",
  'enabled: false',
  'version:',
  'bundleUrl: "u"',
);

const documents = fc
  .record({
    before: lines,
    after: lines,
    group: fc.option(
      fc.record({
        step: fc.constantFrom(2, 4, 3),
        inside: lines,
        leaves: fc.uniqueArray(leafLine, { selector: (line) => line.split(':')[0], maxLength: 3 }),
      }),
    ),
    eol: fc.constantFrom('\n', '\r\n'),
    hasFinalEol: fc.boolean(),
  })
  .map(({ before, after, group, eol, hasFinalEol }) => {
    const indent = ' '.repeat(group?.step ?? 2);
    const middle =
      group === null
        ? []
        : [
            'staticExport:',
            ...group.leaves.map((line) => indent + line),
            ...group.inside.flatMap((make) => make(indent)),
          ];
    const all = [
      'base: &shared {k: 1}',
      ...before.flatMap((make) => make('')),
      ...middle,
      ...after.flatMap((make) => make('')),
    ];
    return all.join(eol) + (hasFinalEol ? eol : '');
  });

/** Lines that are not leaves, in order: what must survive. */
const strangers = (text: string): readonly string[] =>
  text
    .split(/\r?\n/)
    .filter((line) => !/^\s*(staticExport|enabled|version|bundleUrl|digest|ref):/.test(line));

test('property: everything outside the leaves survives byte for byte, and the second plan is in sync', () => {
  let edits = 0;
  fc.assert(
    fc.property(documents, fc.constantFrom('1.10', 'v1', "it's", 'é'), (text, version) => {
      const copy = version === 'v1' ? { digest: 'd', ref: 'oci://r.example.com/x@sha256:a' } : {};
      const wish: WantedValues = { enabled: true, version, ...copy };
      const plan = planValuesEdit(text, wish);
      if (plan.outcome !== 'edit') return;
      edits += 1;
      const kept = strangers(plan.text.replace(/\r?\n?$/, ''));
      assert.deepEqual(kept, strangers(text.replace(/\r?\n?$/, '')));
      assert.equal(plan.text.endsWith('\n'), text.endsWith('\n'));
      assert.equal(/\r\n/.test(plan.text), /\r\n/.test(text));
      assert.equal(/[^\r]\n/.test(plan.text), /[^\r]\n/.test(text) || !text.includes('\n'));
      assert.deepEqual(planValuesEdit(plan.text, wish), { outcome: 'in-sync' });
    }),
    { numRuns: 400 },
  );
  assert.ok(edits > 100, `only ${edits} of 400 documents were editable`);
});

test('property: no text at all makes it throw', () => {
  fc.assert(
    fc.property(
      fc.string({
        unit: fc.constantFrom(
          'a',
          ':',
          ' ',
          '\n',
          '-',
          '{',
          '}',
          '[',
          ']',
          '*',
          '&',
          '|',
          '#',
          '"',
          "'",
          '?',
          '\t',
          '!',
          '%',
          '.',
          '<',
          'staticExport',
          'version',
        ),
      }),
      (text) => {
        const plan = planValuesEdit(text, wanted);
        if (plan.outcome === 'edit')
          assert.deepEqual(planValuesEdit(plan.text, wanted), { outcome: 'in-sync' });
      },
    ),
    { numRuns: 1000 },
  );
});
