// `export` and `run` as processes that are stopped, killed, watched or started twice: no spare job, the right bytes, no half
// folder, and the key and the link where no other user reads them. A long loop of kills is in test/extended/kills.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { type ChildProgram, startProgram } from '../../support/child-program.ts';
import { startInProcess } from '../../support/cli-in-process.ts';
import { runCommand } from '../../support/command.ts';
import { eventually } from '../../support/eventually.ts';
import { programFile } from '../../support/program-file.ts';
import { seeText } from '../../support/secret-watch.ts';
import { portOf } from '../../support/storage-server.ts';
import { tarOf } from '../../support/tar-builder.ts';
import { openTerminal } from '../../support/terminal.ts';
import { exportWorkplace, pages, seeFiles, site } from './environment/export-workplace.ts';
import { filesIn } from './environment/files-in.ts';
import { commandLinesOf } from './environment/process-tree.ts';
import { runWorkplace } from './environment/run-workplace.ts';
import { key, type ScriptedVendor, signature } from './environment/scripted-vendor.ts';
import { verbs, workplaceOf } from './environment/verbs.ts';

const hang = (): boolean => true;

/** Sends half of the archive and leaves the connection open. */
const halfThenNothing = (response: ServerResponse): boolean => {
  response.writeHead(200, { 'content-length': site.length });
  response.write(site.subarray(0, site.length / 2));
  return true;
};

for (const [signal, exitCode] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  test(`export: ${signal} exits with ${exitCode} and says how to continue; the same command continues`, async (t) => {
    const { args, run, vendor } = await exportWorkplace(t);
    vendor.answers = { poll: hang };
    const child = startProgram(process.execPath, { args: args() });
    t.after(() => child.stop('SIGKILL'));
    await eventually('a job is started', () => vendor.jobs.size === 1 || undefined);
    // The id must be on the disk too: the signal may come in between.
    await child.stop(signal);
    assert.equal(await child.exited, exitCode);
    assert.match(child.tail(), /Run the same command again to continue/);
    vendor.answers = {};
    assert.equal((await run()).code, 0);
    assert.equal(vendor.jobs.size, 1);
  });
}

/** Against a server that accepts connections and stays silent, so that TLS never begins. */
const silentVerbs: Readonly<Record<string, (origin: string, folder: string) => readonly string[]>> = {
  'get, from the Kubernetes API server': (server, folder) => {
    const clusters = [{ name: 'c', cluster: { server } }];
    const contexts = [{ name: 'c', context: { cluster: 'c', user: 'c' } }];
    const users = [{ name: 'c', user: { token: 't' } }];
    const kubeconfig = {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'c',
      clusters,
      contexts,
      users,
    };
    writeFileSync(join(folder, 'kubeconfig'), JSON.stringify(kubeconfig));
    return ['get', 'docs', '--kubeconfig', join(folder, 'kubeconfig')];
  },
  'conversations export, from the export API': (origin, folder) => [
    ...[
      'conversations',
      'export',
      '--project',
      'p',
      '--api-base-url',
      origin,
      '--key-file',
      join(folder, 'key'),
    ],
    ...['--state', join(folder, 'state'), '--to', join(folder, 'turns')],
  ],
};
for (const [name, argsOf] of Object.entries(silentVerbs)) {
  test(`${name}: SIGINT ends it while a connection is being made`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'silent-'));
    writeFileSync(join(folder, 'key'), 'svc_x');
    const sockets: Socket[] = [];
    const server = createServer((socket) => void sockets.push(socket.on('error', () => {})));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    t.after(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
      rmSync(folder, { recursive: true });
    });
    const asked = once(server, 'connection');
    const running = startInProcess(argsOf(`https://127.0.0.1:${portOf(server)}`, folder));
    await asked;
    running.signal('SIGINT');
    const { code, stderr } = await running.result;
    assert.deepEqual([code, /stopped by SIGINT/.test(stderr)], [130, true], stderr);
  });
}

test('a run that is not "once" goes on, publishes, and ends in order', async (t) => {
  const { to, vendor, args, run } = await runWorkplace(t);
  const child = startProgram(process.execPath, { args: args() });
  t.after(() => child.stop('SIGKILL'));
  await eventually('the site is written', () => existsSync(join(to, 'index.html')) || undefined);
  assert.equal(child.hasExited(), false);
  await child.stop('SIGTERM');
  assert.equal(await child.exited, 143);
  assert.equal((await run()).code, 0);
  assert.equal(vendor.jobs.size, 1);
});

type Moment = 'start' | 'poll' | 'issue' | 'download' | 'write';

/** Kills the program at its next call of this kind, which gets no answer, or at its first write of the folder. */
async function killAt(
  moment: Moment,
  { vendor, folder }: { readonly vendor: ScriptedVendor; readonly folder: string },
  start: () => ChildProgram,
): Promise<void> {
  const { promise, resolve: kill } = Promise.withResolvers<void>();
  const watcher = watch(folder, (_event, name) => {
    if (moment === 'write' && name?.includes('.partial') === true) kill();
  });
  vendor.answers =
    moment === 'write'
      ? {}
      : {
          [moment]: (response: ServerResponse) => {
            kill();
            return moment === 'download' ? halfThenNothing(response) : true;
          },
        };
  const child = start();
  await Promise.race([promise, child.exited]);
  await child.stop('SIGKILL');
  watcher.close();
  vendor.answers = {};
  if (moment !== 'write') assert.equal(await child.exited, null, `${moment}: ${child.tail()}`);
}

for (const verb of verbs) {
  const moments: readonly Moment[] = ['start', 'poll', 'issue', 'download', 'write'];
  test(`${verb}: kill -9 at each call and at the write: no spare job, the right bytes, no half folder`, async (t) => {
    const workplace = await workplaceOf(verb, t);
    const { folder, to, args, run, vendor } = workplace;
    const earlier = verb === 'export' ? { ...pages, 'index.html': 'earlier' } : undefined;
    if (earlier !== undefined) {
      vendor.archive = gzipSync(tarOf(earlier));
      assert.equal((await run()).code, 0);
      vendor.archive = site;
    }
    const jobs = vendor.jobs.size;
    for (const moment of moments) {
      await killAt(moment, workplace, () => startProgram(process.execPath, { args: args() }));
      const found = existsSync(to) ? filesOf(to) : undefined;
      // Whole, or as before: never a part of it.
      if (moment === 'write' && found?.['index.html'] === pages['index.html']) assert.deepEqual(found, pages);
      else assert.deepEqual(found, earlier, moment);
    }
    // Only an export that was finished is followed by another one.
    const isFinished =
      verb === 'export' &&
      vendor.jobs.size > jobs &&
      JSON.parse(readFileSync(join(folder, 'state/state.json'), 'utf8')).last.jobId ===
        `job-${vendor.jobs.size}`;
    const last = await run();
    assert.equal(last.code, 0, last.stderr);
    assert.deepEqual(filesOf(to), pages);
    assert.equal(vendor.jobs.size, jobs + (isFinished ? 2 : 1));
    const given = verb === 'run' ? ['docs.yaml', 'key'] : ['key'];
    assert.deepEqual(readdirSync(folder).sort(), [...given, 'site', 'state']);
  });

  test(`${verb}: two runs on one state: the second exits with 5 at once`, async (t) => {
    const { args, run, vendor } = await workplaceOf(verb, t);
    vendor.answers = { poll: hang };
    const first = startProgram(process.execPath, { args: args() });
    t.after(() => first.stop('SIGKILL'));
    await eventually('a job is started', () => vendor.jobs.size === 1 || undefined);
    const second = await run();
    assert.deepEqual([second.code, JSON.parse(second.stdout).code], [5, 'StateBusy']);
  });

  test(`${verb}: while it works, the key and the link are in no command line and no file of others; SIGINT twice ends it at once with 130, and the same command goes on`, async (t) => {
    const { folder, to, args, run, vendor } = await workplaceOf(verb, t);
    // The first download of `run` is the inspection; after it, the state holds the link.
    const downloads = verb === 'run' ? 2 : 1;
    vendor.answers = { download: (response, count) => count >= downloads && halfThenNothing(response) };
    const flags = verb === 'export' ? ['--link-file', join(folder, 'bundle.json')] : [];
    const child = startProgram(process.execPath, { args: args(...flags) });
    t.after(() => child.stop('SIGKILL'));
    await eventually('the download runs', () => vendor.counts.download >= downloads || undefined);
    const lines = commandLinesOf(child.pid);
    assert.ok(lines[0]?.includes(verb === 'run' ? '--publish' : '--link-file'));
    for (const line of lines) seeText('a command line', line);
    if (verb === 'export') seeFiles(folder);
    else
      for (const { name, text, mode } of filesIn(folder, ['key'])) {
        assert.ok(!text.includes(key), name);
        if (text.includes(signature))
          assert.deepEqual([/^state\/objects\/Secret/.test(name), mode], [true, 0o600]);
      }
    process.kill(child.pid, 'SIGINT');
    process.kill(child.pid, 'SIGINT');
    assert.equal(await child.exited, 130);
    assert.equal(existsSync(to), false);
    vendor.answers = {};
    assert.equal((await run()).code, 0);
    const given = verb === 'run' ? ['docs.yaml', 'key'] : ['key'];
    assert.deepEqual([readdirSync(folder).sort(), vendor.jobs.size], [[...given, 'site', 'state'], 1]);
    if (verb === 'export')
      assert.deepEqual(readdirSync(join(folder, 'state')).sort(), ['export', 'lock', 'state.json']);
  });
}

test('export: two sites with one state each get a new export', async (t) => {
  const { folder, args, run, vendor } = await exportWorkplace(t);
  const of = (domain: string): readonly string[] =>
    args('--to', join(folder, domain)).with(2, domain).slice(1);
  for (const domain of ['docs.example.com', 'other.example.com', 'docs.example.com'])
    assert.equal((await startInProcess(of(domain)).result).code, 0);
  assert.equal(vendor.jobs.size, 3);
  const again = await run('--to', join(folder, 'docs.example.com'));
  assert.deepEqual([again.code, vendor.jobs.size], [0, 4], again.stderr);
});

test('export: a start without an answer is sent with the same key, also after a run that sent nothing', async (t) => {
  const { folder, run, vendor } = await exportWorkplace(t);
  vendor.answers = { start: hang };
  const to = ['--to', join(folder, 'site')];
  assert.equal((await run(...to, '--timeout', '2s')).code, 124);
  assert.equal((await run(...to, '--timeout', '1ms')).code, 124);
  vendor.answers = {};
  const { code, stderr } = await run(...to);
  assert.equal(code, 0, stderr);
  assert.match(stderr, /Continuing the export that was requested at/);
  assert.equal(vendor.jobs.size, 1);
});

const filesOf = (to: string): Readonly<Record<string, string>> =>
  Object.fromEntries(filesIn(to, []).map(({ name, text }) => [name, text]));

test('Ctrl-C ends a command that waits for its key on standard input', async (t) => {
  const { folder, vendor } = await exportWorkplace(t);
  const flags = `--api-base-url ${vendor.url} --to '${join(folder, 'site')}' --key-stdin`;
  const program = `'${process.execPath}' '${programFile('static-export')}'`;
  const command = `trap : INT; ${program} export docs.example.com ${flags}; echo "exit $?"`;
  const terminal = openTerminal(command, { cwd: folder, env: { PATH: process.env['PATH'] } });
  t.after(() => terminal.close());
  await terminal.awaitText(/Ctrl-D ends it/);
  terminal.type('\u0003');
  await terminal.awaitText(/exit 130/);
});

test('a reader of help that has enough gets no stack trace, and the exit code stays', async () => {
  for (const [words, exitCode] of [
    ['export --help', 0],
    ['nope -o json', 2],
  ] as const) {
    const line = `{ "${process.execPath}" "${programFile('static-export')}" ${words}; echo "exit $?" >&2; } | true`;
    const { stderr } = await runCommand(['sh', '-c', line]);
    assert.doesNotMatch(stderr, /EPIPE/);
    assert.match(stderr, new RegExp(`exit ${exitCode}\n$`));
  }
});
