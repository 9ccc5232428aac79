// A hundred thousand random calls of agents, over loopback, to a real server: see fuzzed-calls.ts.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bundleDocument, makeArchive } from '../../integration/server/archive.ts';
import { fuzzCalls } from '../../integration/server/fuzzed-calls.ts';
import { startLinkServer } from '../../integration/server/link-server.ts';
import { prepareSite } from '../../integration/server/served-site.ts';

const calls = 100_000;

test('whatever agents send: answers below 500, none of the protocol under another name, and one thread all the time', async () => {
  const links = await startLinkServer();
  const served = await prepareSite();
  try {
    const page =
      '<!doctype html><html lang="en"><title>Install</title><main><h1>Install</h1><p>The quokka</p></main></html>';
    links.put(
      'v1',
      await makeArchive({ 'index.html': page, 'guide/install.html': page, 'guide/long.html': page }),
    );
    await served.mount(bundleDocument({ version: 'v1', link: links.link('v1') }));
    await served.start('--mcp', '--mcp-hosts=docs.example.com', '--mcp-rate=999999999');
    await served.said(/agents can search the site/);
    const statuses = await fuzzCalls(served.port, calls, 20_261_130);
    for (const status of [200, 400, 403, 415])
      assert.ok((statuses.get(status) ?? 0) > calls / 200, `${status}`);
    assert.doesNotMatch(served.output(), /has ended|"level":"error"/);
    assert.equal((await fetch(`${served.site}/`)).status, 200);
  } finally {
    await served.remove();
    await links.close();
  }
});
