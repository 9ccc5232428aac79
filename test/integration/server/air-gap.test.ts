// Behind an air gap: a server whose bundle is local reaches for nothing, seen in a network namespace without a route;
// and a page that tries to call out is stopped by a real browser, because of what the server sends.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { noBrowser } from '../../support/browser.ts';
import { startProgram } from '../../support/child-program.ts';
import { eventually } from '../../support/eventually.ts';
import { noNamespaces } from '../../support/namespaces.ts';
import { programFile } from '../../support/program-file.ts';
import { makeArchive } from './archive.ts';
import { prepareSite } from './served-site.ts';

const run = promisify(execFile);
const program = programFile('bundle-server');

test('with a local bundle no packet leaves and no name is looked up: there is no network at all', {
  skip: noNamespaces,
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'air-gap-'));
  const archive = join(folder, 'export.tar.gz');
  await writeFile(
    archive,
    await makeArchive({ 'index.html': 'home behind the gap', 'a.css': 'p {}\n'.repeat(500) }),
  );
  const server = [process.execPath, program, '--bundle-url', `file://${archive}`, '--version', 'v1'];
  const flags = [
    '--store',
    join(folder, 'store'),
    '--listen',
    '127.0.0.1:8080',
    '--admin-listen',
    '127.0.0.1:9090',
  ];
  const inside = ['--net', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh', ...server, ...flags];
  const child = startProgram('/usr/bin/unshare', { args: [...inside, '--deployment-type', 'AirGapped'] });
  /** Asks from inside the same namespace. */
  const ask = async (url: string): Promise<string> => {
    const script = `process.stdout.write(await (await fetch(${JSON.stringify(url)})).text())`;
    const enter = [`--net=/proc/${child.pid}/ns/net`, process.execPath, '--input-type=module', '-e', script];
    return (await run('/usr/bin/nsenter', enter)).stdout;
  };
  try {
    const home = await eventually('the site is served', async () => {
      if (child.hasExited()) throw new Error(child.tail());
      const text = await ask('http://127.0.0.1:8080/');
      return text.startsWith('home') ? text : undefined;
    });
    assert.equal(home, 'home behind the gap');
    assert.match(await ask('http://127.0.0.1:9090/status'), /"state":"ready"|"state":"making"/);
    const counters = await readFile(`/proc/${child.pid}/net/snmp`, 'utf8');
    assert.equal(readCounter(counters, 'Udp', 'OutDatagrams'), 0, 'a name was looked up');
    assert.equal(readCounter(counters, 'Ip', 'OutNoRoutes'), 0, 'somebody outside was called');
    const interfaces = await readFile(`/proc/${child.pid}/net/dev`, 'utf8');
    assert.deepEqual(
      [...interfaces.matchAll(/^ *(\S+):/gm)].map(([, name]) => name),
      ['lo'],
    );
  } finally {
    await child.stop('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  }
});

/** Of /proc/net/snmp: a line of names, a line of numbers. */
function readCounter(text: string, protocol: string, name: string): number {
  const [names, values] = text
    .split('\n')
    .filter((line) => line.startsWith(`${protocol}:`))
    .map((line) => line.split(' '));
  const at = names?.indexOf(name) ?? -1;
  assert.ok(at > 0, `${protocol} ${name}`);
  return Number(values?.[at]);
}

const chromium = '/usr/bin/chromium';

/** Every way of a page to call out, all at once; it writes down what it was told. */
const callingOut = (outside: string): string => `<!doctype html><title>calls out</title>
<script>
  const seen = new Set();
  document.addEventListener('securitypolicyviolation', (event) => seen.add(event.effectiveDirective));
</script>
<link rel="stylesheet" href="${outside}/style.css"><script src="${outside}/script.js"></script>
<img src="${outside}/image.png"><iframe src="${outside}/frame"></iframe><object data="${outside}/object"></object>
<p id="inline">no</p>
<script>
  document.querySelector('#inline').textContent = 'inline scripts run';
  const inWorker = (code) => new Promise((resolve, reject) => {
    const worker = new Worker(URL.createObjectURL(new Blob([code])));
    worker.onmessage = ({ data }) => data === 'went' ? resolve() : reject();
    worker.onerror = reject;
  });
  const call = (name, work) => work().then(() => name + ':went', () => name + ':stopped');
  Promise.all([
    call('fetch', () => fetch('${outside}/fetch')),
    call('beacon', async () => { if (!navigator.sendBeacon('${outside}/beacon', 'x')) throw new Error(); }),
    call('own', () => fetch('/own.json')),
    call('wasm', () => WebAssembly.compile(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]))),
    call('data', () => fetch('data:text/plain,x')),
    call('blob', () => fetch(URL.createObjectURL(new Blob(['x'])))),
    call('worker', () => inWorker("postMessage('went')")),
    call('worker-fetch', () => inWorker("fetch('${outside}/worker').then(() => postMessage('went'), () => postMessage('stopped'))")),
    call('worker-import', () => inWorker("try { importScripts('${outside}/import'); postMessage('went'); } catch { postMessage('stopped'); }")),
    call('socket', () => new Promise((resolve, reject) => { const socket = new WebSocket('${outside}/socket'.replace('http', 'ws')); socket.onopen = resolve; socket.onerror = reject; })),
    call('eval', async () => new Function('')()),
  ]).then((outcomes) => { document.body.dataset.outcomes = outcomes.join(' ') + ' ' + [...seen].sort().join(' '); });
</script>`;

test('a page that calls out is stopped by the browser; without the policy it is not', {
  skip: noBrowser,
}, async () => {
  const calls: string[] = [];
  const outsider = createServer((request, response) => {
    calls.push(request.url ?? '');
    response.setHeader('Access-Control-Allow-Origin', '*').end();
  });
  await new Promise<void>((resolve) => outsider.listen(0, '127.0.0.1', resolve));
  const address = outsider.address();
  assert.ok(typeof address === 'object' && address !== null);
  const archive = await makeArchive({
    'index.html': callingOut(`http://127.0.0.1:${address.port}`),
    'own.json': '{}',
  });
  const visit = async (deploymentType: string): Promise<string> => {
    const served = await prepareSite();
    try {
      await writeFile(join(served.folder, 'export.tar.gz'), archive);
      const link = `file://${join(served.folder, 'export.tar.gz')}`;
      await served.start('--bundle-url', link, '--version', 'v1', '--deployment-type', deploymentType);
      await served.until('the site is served', ({ active }) => active !== null);
      const profile = `--user-data-dir=${join(served.folder, 'profile')}`;
      const flags = [
        '--headless',
        '--no-sandbox',
        '--disable-gpu',
        '--disable-dev-shm-usage',
        '--dump-dom',
        profile,
      ];
      const { stdout } = await run(chromium, [...flags, '--virtual-time-budget=4000', served.site], {
        timeout: 60_000,
      });
      return stdout;
    } finally {
      await served.remove();
    }
  };
  try {
    const open = await visit('Cloud');
    assert.match(open, /data-outcomes="fetch:went beacon:went own:went/);
    assert.ok(
      calls.includes('/fetch') && calls.includes('/script.js') && calls.includes('/image.png'),
      calls.join(),
    );
    calls.length = 0;
    const gapped = await visit('AirGapped');
    assert.match(gapped, /inline scripts run/);
    assert.match(
      gapped,
      /data-outcomes="fetch:stopped beacon:\w+ own:went wasm:went data:went blob:went worker:went worker-fetch:stopped worker-import:stopped socket:stopped eval:stopped [^"]*connect-src/,
    );
    assert.deepEqual(calls, [], 'something was called all the same');
  } finally {
    outsider.closeAllConnections();
    outsider.close();
  }
});
