// The changelog as data, and the one change that a release makes to it.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { readChangelog, releaseChangelog } from '../../../../packaging/version/changelog.ts';

const text = `# Changelog

Semantic versioning. Nothing has been
released yet.

## Unreleased: 0.1.0

### Added

- First, which goes on
  here.

Operator:

- Second.

### Removed

- Third.
`;

test('lines have their heading and area, and are joined', () => {
  assert.deepEqual(readChangelog(text), [
    {
      version: undefined,
      date: undefined,
      lines: [
        { heading: 'Added', area: undefined, text: 'First, which goes on here.' },
        { heading: 'Added', area: 'Operator', text: 'Second.' },
        { heading: 'Removed', area: undefined, text: 'Third.' },
      ],
    },
  ]);
});

test('a release moves the lines below its title, and leaves an empty Unreleased', () => {
  const released = releaseChangelog(text, '0.1.0', '2026-12-01');
  const [unreleased, version] = readChangelog(released);
  assert.deepEqual(unreleased, { version: undefined, date: undefined, lines: [] });
  assert.deepEqual([version?.version, version?.date], ['0.1.0', '2026-12-01']);
  assert.deepEqual(version?.lines, readChangelog(text)[0]?.lines);
  assert.doesNotMatch(released, /Nothing has been/);
  const next = releaseChangelog(
    released.replace('## Unreleased\n', '## Unreleased\n\n### Fixed\n\n- A.\n'),
    '0.2.0',
    '2026-12-02',
  );
  assert.deepEqual(
    readChangelog(next).map(({ version }) => version),
    [undefined, '0.2.0', '0.1.0'],
  );
});

test('a title in another form is refused by name', () => {
  for (const title of ['## 0.1', '## 0.1.0', '## Next', '## 0.1.0 - yesterday', '## unreleased'])
    assert.throws(() => readChangelog(`${title}\n`), new RegExp(`"${title}" is not`));
  assert.equal(readChangelog('## [0.1.0] - 2026-12-01\n')[0]?.version, '0.1.0');
});

test("the project's own changelog is readable, and every line has a known heading", () => {
  const own = readChangelog(readFileSync(new URL('../../../../CHANGELOG.md', import.meta.url), 'utf8'));
  assert.equal(own[0]?.version, undefined);
  const headings = new Set(own.flatMap(({ lines }) => lines.map(({ heading }) => heading)));
  const known = new Set(['Added', 'Changed', 'Deprecated', 'Fixed', 'Removed', 'Security']);
  assert.deepEqual([...headings.difference(known)], []);
});
