// Repositories whose trees hold what no ordinary client writes: names in any encoding, old modes, any order, one name twice.
// The real git finds only the edited files changed, byte by byte, on a branch and on a pull-request branch.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { deflateSync } from 'node:zlib';
import type { GitRepository } from '../../../support/gitops/git-repository.ts';
import { type GitServer, startGitServer } from '../../../support/gitops/git-server.ts';
import * as fc from '../../../support/properties.ts';
import { editOf, login, noGit, outcomesOf, push, taskOf } from './git-tasks.ts';

type OddEntry = readonly [mode: string, name: Buffer, content: string | readonly OddEntry[]];

const values = 'staticExport:\n  version: "1"\n';
const edited: OddEntry = ['100644', Buffer.from('values.yaml'), values];
const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');
const named = (name: string | Buffer, mode = '100644'): OddEntry => [mode, Buffer.from(name), 'x'];

/** Each as the entries beside the edited file, in this order. */
const kinds: Readonly<Record<string, readonly OddEntry[]>> = {
  'a name in Latin-1': [named(latin1('caf\xe9.md'))],
  'names that are equal once decoded': [
    named(latin1('c\xe8.md')),
    named(latin1('c\xe9.md')),
    named('c\ufffd.md'),
  ],
  'a name composed and decomposed': [named('cafe\u0301.md'), named('caf\xe9.md')],
  'names outside the first plane, in the order of bytes': [named('\uff21.md'), named('\u{1f680}.md')],
  'half of a surrogate pair': [named(Buffer.from([0xed, 0xa0, 0xbd])), named('\ufeffbom')],
  'a line break, a tab, a backslash and a colon': [named('a\nb'), named('a\tb'), named('a\\b'), named('a:b')],
  'names that checkouts refuse': [
    named('.git'),
    named('git~1'),
    named('..'),
    named('a/b'),
    named('.git::$INDEX'),
  ],
  'old and padded modes': [
    named('a', '100664'),
    named('b', '0100755'),
    named('c', '120777'),
    ['040000', Buffer.from('d'), [named(latin1('\xe9'))]],
    ['40755', Buffer.from('e'), []],
  ],
  'a submodule and a link': [named('module', '160000'), named('link', '120000')],
  'one name twice, and a file beside a folder of its name': [
    named('a'),
    named('a', '100755'),
    ['40000', Buffer.from('a'), [named('b')]],
  ],
  'entries in another order': [named('z'), named('a'), named('m')],
};

suite('trees that no ordinary client writes', { skip: noGit }, () => {
  let server: GitServer;
  before(async () => {
    server = await startGitServer({ login });
  });
  after(() => server.close());

  let repositories = 0;
  const create = async (root: readonly OddEntry[]): Promise<GitRepository> => {
    repositories += 1;
    const repository = await server.createRepository(`odd-${repositories}`);
    const write = async (type: string, content: Buffer): Promise<string> => {
      const bytes = Buffer.concat([Buffer.from(`${type} ${content.byteLength}\0`), content]);
      const id = createHash('sha1').update(bytes).digest('hex');
      const folder = join(repository.folder, 'objects', id.slice(0, 2));
      await mkdir(folder, { recursive: true });
      await writeFile(join(folder, id.slice(2)), deflateSync(bytes));
      return id;
    };
    const writeTree = async (entries: readonly OddEntry[]): Promise<string> => {
      const parts: Buffer[] = [];
      for (const [mode, name, content] of entries) {
        const id =
          typeof content === 'string' ? await write('blob', Buffer.from(content)) : await writeTree(content);
        parts.push(Buffer.from(`${mode} `), name, Buffer.from([0]), Buffer.from(id, 'hex'));
      }
      return await write('tree', Buffer.concat(parts));
    };
    // An author of a form that today's git does not write.
    const commit = `tree ${await writeTree(root)}\nauthor J\xf6rg\ncommitter cvs <cvs> 0 -9999\n\nfirst\n`;
    await repository.git('update-ref', 'refs/heads/main', await write('commit', latin1(commit)));
    return repository;
  };
  const bytesOf = ({ folder }: GitRepository, ...args: readonly string[]): Buffer => {
    const { status, stdout, stderr } = spawnSync('git', ['-C', folder, ...args]);
    assert.equal(status, 0, String(stderr));
    return stdout;
  };
  /** Git itself does not find a name behind an entry that is out of order. */
  const treeAt = (repository: GitRepository, commit: string, folder: string): Buffer => {
    let bytes = bytesOf(repository, 'cat-file', 'tree', commit);
    for (const name of folder.split('/').filter((one) => one !== '')) {
      const at = bytes.indexOf(` ${name}\0`) + Buffer.byteLength(name) + 2;
      bytes = bytesOf(repository, 'cat-file', 'tree', bytes.toString('hex', at, at + 20));
    }
    return bytes;
  };
  /** Pushes the edits of these files, and fails where anything else changed. */
  const mustChangeOnly = async (root: readonly OddEntry[], paths: readonly string[], branch = 'main') => {
    const repository = await create(root);
    const edits = paths.map((path) => editOf(path, '2'));
    const pullRequestBranch = branch === 'main' ? {} : { pullRequestBranch: branch };
    const result = await push(taskOf(repository.url, edits, pullRequestBranch));
    assert.deepEqual(new Set(outcomesOf(result)), new Set(['written']));
    const range = [`${branch}~1`, branch];
    const changed = bytesOf(repository, 'diff-tree', '-r', '-z', '--no-renames', '--name-status', ...range);
    const records = changed
      .toString()
      .split('\0')
      .filter((one) => one !== '');
    assert.deepEqual(records.toSorted(), [...paths, ...paths.map(() => 'M')].toSorted());
    // What git shows hides modes, the order and entries of one name; bytes do not.
    for (const folder of new Set(['', ...paths.flatMap(foldersOf)])) {
      const [from = Buffer.of(), to = Buffer.of()] = range.map((commit) =>
        treeAt(repository, commit, folder),
      );
      const ids = [...from.keys()].filter((at) => from[at] !== to[at]);
      const entries = paths.filter((path) => folder === '' || path.startsWith(`${folder}/`)).length;
      assert.equal(from.byteLength, to.byteLength);
      assert.ok(ids.length <= 20 * entries, `${ids.length} bytes of ${folder}`);
    }
  };

  test('each kind of entry stays as it is', async () => {
    for (const [kind, entries] of Object.entries(kinds)) {
      const below: OddEntry = ['40000', Buffer.from('sité'), [...entries, edited]];
      await mustChangeOnly([...entries, edited], ['values.yaml']).catch(about(kind));
      await mustChangeOnly([...entries, below], ['sité/values.yaml'], 'docs').catch(about(kind));
    }
  });

  test('only the edited files change, whatever else the trees hold', async () => {
    const name = fc
      .uint8Array({ minLength: 1, maxLength: 6 })
      .map((bytes) => Buffer.from(bytes.map((byte) => byte || 0x2e)));
    const mode = fc.constantFrom('100644', '100755', '100664', '120000', '160000', '0100644');
    const file = fc.tuple(
      mode,
      fc.oneof(
        name,
        fc.constantFrom(
          ...Object.values(kinds)
            .flat()
            .map((one) => one[1]),
        ),
      ),
      fc.string({ maxLength: 3 }),
    );
    const entries = fc.array(file, { maxLength: 6 });
    const tree = fc.record({
      root: entries,
      folders: fc.array(entries, { maxLength: 3 }),
      isEdited: fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }),
      branch: fc.constantFrom('main', 'docs'),
    });
    await fc.assertAsync(
      fc.asyncProperty(tree, async ({ root, folders, isEdited, branch }) => {
        const inner = folders.map(
          (one, at): OddEntry => ['40000', Buffer.from(`folder-${at}`), [edited, ...one]],
        );
        const paths = inner.flatMap((_one, at) => (isEdited[at] ? [`folder-${at}/values.yaml`] : []));
        await mustChangeOnly([...root, edited, ...inner], [...paths, 'values.yaml'], branch);
      }),
      { numRuns: 20 },
    );
  });

  test('of one name twice the first entry is edited, as git reads it', async () => {
    await mustChangeOnly([edited, named('values.yaml', '100755')], ['values.yaml']);
  });

  test('a name is found by its bytes alone', async () => {
    const repository = await create([named('caf\xe9.yaml'), named(latin1('c\xe9.yaml'))]);
    const edits = ['cafe\u0301.yaml', 'c\xe9.yaml', 'c\ufffd.yaml'].map((path) => editOf(path, '2'));
    const result = await push(taskOf(repository.url, edits));
    assert.deepEqual(outcomesOf(result), Array(3).fill('refused FileNotFound'));
  });
});

const foldersOf = (path: string): readonly string[] =>
  path
    .split('/')
    .slice(0, -1)
    .map((_name, at, names) => names.slice(0, at + 1).join('/'));

const about =
  (kind: string) =>
  (error: unknown): never => {
    throw new Error(kind, { cause: error });
  };
