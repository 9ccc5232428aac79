// `static-export demo` as a user without a cluster runs it: no Go, no control plane, an own temporary folder in which
// nothing may stay.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type ChildProgram, startProgram } from '../../support/child-program.ts';
import { eventually } from '../../support/eventually.ts';
import { programFile } from '../../support/program-file.ts';
import { requirePublishedDocument } from '../../support/published-document.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

interface RunningDemo {
  readonly child: ChildProgram;
  readonly lines: readonly string[];
  /** The demo's own folder for temporary files. */
  readonly folder: string;
}

function startDemo(t: TestContext, ...flags: readonly string[]): RunningDemo {
  const folder = temporaryFolder(t);
  const lines: string[] = [];
  const child = startProgram(process.execPath, {
    args: [programFile('static-export'), 'demo', ...flags],
    env: { TMPDIR: folder, PATH: folder, KUBEBUILDER_ASSETS: '' },
    onLine: (line) => void lines.push(line),
  });
  t.after(() => child.stop());
  return { child, lines, folder };
}

/** Processes of a demo, by the folder in their environment. */
function processesOf(folder: string): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`TMPDIR=${folder}\0`);
      } catch {
        return false;
      }
    });
}

/** The key and the signatures of links, as they come and go. */
function collectSecrets({ folder, child }: RunningDemo): {
  readonly found: Set<string>;
  readonly end: Promise<unknown>;
} {
  const found = new Set<string>();
  // A file is empty before it is written, and every output includes an empty text.
  const add = (secret: string): void => void (secret !== '' && found.add(secret));
  const look = (): void => {
    for (const name of readdirSync(folder)) {
      try {
        add(readFileSync(join(folder, name, 'key'), 'utf8').trim());
        const { bundleUrl } = JSON.parse(readFileSync(join(folder, name, 'bundle.json'), 'utf8'));
        add(new URL(bundleUrl).searchParams.get('signature') ?? '');
      } catch {
        // Not written yet, or removed.
      }
    }
  };
  const timer = setInterval(look, 100);
  return { found, end: child.exited.finally(() => clearInterval(timer)) };
}

test('every claim of the demo holds, its output has no key and no link, and nothing is left', async (t) => {
  const demo = startDemo(t, '--once', '-o', 'json');
  const secrets = collectSecrets(demo);
  await secrets.end;
  const output = demo.lines.join('\n');
  assert.equal(await demo.child.exited, 0, output);
  const document = output.slice(output.indexOf('{\n  "apiVersion"'));
  await requirePublishedDocument(document);
  const { kind, claims, version, digest } = JSON.parse(document);
  assert.equal(kind, 'DemoResult');
  assert.equal(version.slice(-8), digest.slice(0, 8));
  const wanted = [
    /are running$/,
    /^first export published: version \S+, 8 pages$/,
    /^served for your browser at http:\/\/127\.0\.0\.1:\d+\/$/,
    /^13 of 13 addresses answer as the origin does/,
    /^link refreshed \S+ s before it expires: same version, no download$/,
    /^new version \S+: \d+ requests, 0 failed$/,
    /is held \(PageCountDropped\)$/,
    /^an export that fails changes nothing: \d+ requests, 0 failed$/,
    /the link leads nowhere$/,
    /^started again from its disk: 12 of 12 files are the checked bytes$/,
    /^the key and \d+ links are in none of \d+ outputs/,
  ];
  assert.equal(claims.length, wanted.length);
  for (const [at, pattern] of wanted.entries()) {
    assert.match(claims[at].claim, pattern);
    assert.equal(claims[at].holds, true);
  }
  assert.ok(secrets.found.size >= 3, 'the test saw no links');
  for (const secret of secrets.found) assert.equal(output.includes(secret), false, 'a secret was printed');
  assert.deepEqual([readdirSync(demo.folder), processesOf(demo.folder)], [[], []]);
});

test('an address that is in use ends a demo with a claim that does not hold; Ctrl-C in the middle of one leaves no process and no folder', async (t) => {
  const { child, lines, folder } = startDemo(t);
  const line = await eventually('the address', () => lines.find((one) => one.includes('served for')));
  const address = /127\.0\.0\.1:\d+/.exec(line)?.[0] ?? '';
  const second = startDemo(t, '--once', '--listen', address);
  assert.equal(await second.child.exited, 1);
  assert.match(second.lines.join('\n'), /✗ .*the bundle-server did not start.*EADDRINUSE/);
  assert.deepEqual([readdirSync(second.folder), processesOf(second.folder)], [[], []]);

  assert.ok(lines.some((one) => one.includes('✓ first')));
  assert.equal(processesOf(folder).length, 3);
  assert.equal(readdirSync(folder).length, 1);
  await child.stop('SIGINT');
  assert.equal(await child.exited, 130);
  assert.match(lines.join('\n'), /stopped by SIGINT/);
  assert.doesNotMatch(lines.join('\n'), /✗/);
  assert.deepEqual([readdirSync(folder), processesOf(folder)], [[], []]);
});

test('servers of a demo that is killed end with it', async (t) => {
  const { child, lines, folder } = startDemo(t);
  await eventually('the servers', () => lines.some((line) => line.includes('are running')) || undefined);
  await child.stop('SIGKILL');
  await eventually('the end of the servers', () => processesOf(folder).length === 0 || undefined);
});
