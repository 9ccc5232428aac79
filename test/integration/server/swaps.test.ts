// Swap after swap under load, with the real program: no failed answer, no page with another version's asset, and
// neither memory nor descriptors grow. 30 swaps here; `SWAPS=1000` before the command for a long run. What is kept is
// judged by the heap after a collection; resident memory, which a runtime gives back when it likes, by a bound.

import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort } from '../../support/free-port.ts';
import { inspectHeap, type LiveHeap } from '../../support/live-heap.ts';
import { bundleDocument, makeArchive, makeSite } from './archive.ts';
import { startLinkServer } from './link-server.ts';
import { prepareSite, type ServedSite } from './served-site.ts';

const swaps = Number(process.env['SWAPS'] ?? 30);
const versions = ['v1', 'v2', 'v3', 'v4', 'v5'];

/** Collections take their time, so not after each swap. */
const swapsBetweenLooks = Math.ceil(swaps / 30);
const mib = 1024 * 1024;

interface Held {
  readonly liveMiB: number;
  readonly rssMiB: number;
  readonly descriptors: number;
}

async function heldBy({ child }: ServedSite, heap: LiveHeap): Promise<Held> {
  const { pid } = child();
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const rssKiB = Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]);
  const descriptors = (await readdir(`/proc/${pid}/fd`)).length;
  return { liveMiB: (await heap.liveBytes()) / mib, rssMiB: Math.round(rssKiB / 1024), descriptors };
}

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;

test(`${swaps} swaps under load: no 5xx, no mixed pair, no growth`, {
  timeout: 60_000 + swaps * 3000,
}, async (t) => {
  const links = await startLinkServer();
  const served = await prepareSite();
  const done = new AbortController();
  let answers = 0;
  let slowestMs = 0;

  const get = async (path: string): Promise<Response> => {
    const start = performance.now();
    const answer = await fetch(served.site + path);
    slowestMs = Math.max(slowestMs, performance.now() - start);
    answers += 1;
    return answer;
  };
  const visit = async (): Promise<void> => {
    for (let at = 0; !done.signal.aborted; at = (at + 1) % 30) {
      const page = await get(`/guides/page-${at}`);
      const text = await page.text();
      assert.equal(page.status, 200);
      const named = new Set(text.match(/v\d(?=\.js|<)/g));
      assert.equal(named.size, 1, `a page of several versions: ${[...named].join()}`);
      const asset = await get(/src="([^"]+)"/.exec(text)?.[1] ?? '/none');
      assert.equal(asset.status, 200, 'the page was served and its asset was not');
      assert.equal(await asset.text(), `console.log("${[...named][0]}");\n`);
      // A steady load, not a race for the processor: what is measured is the swap.
      await sleep(30);
    }
  };

  try {
    for (const version of versions) links.put(version, await makeArchive(makeSite(version)));
    const publish = (at: number): Promise<void> => {
      const version = versions[at % versions.length] ?? 'v1';
      return served.mount(
        bundleDocument({ version: `${version}-${at}`, link: links.link(version, `${at}`) }),
      );
    };
    const swapped = async (count: number): Promise<void> => {
      const status = async () => (await served.status()).swaps;
      for (const end = performance.now() + 30_000; (await status()) < count; ) {
        assert.ok(performance.now() < end, `swap ${count} did not come: ${served.child().tail()}`);
        await sleep(20);
      }
    };
    await publish(0);
    const inspectorPort = await findFreePort();
    process.env['NODE_OPTIONS'] = `--inspect=127.0.0.1:${inspectorPort}`;
    await served.start('--poll-interval', '20ms', '--log-level', 'warn');
    await served.until('the first version', ({ active }) => active !== null);
    const heap = await inspectHeap(inspectorPort);
    const visitors = Promise.all([visit(), visit(), visit(), visit()]);
    const held: Held[] = [];
    for (let at = 1; at <= swaps; at += 1) {
      await publish(at);
      await Promise.race([visitors, swapped(at)]);
      if (at % swapsBetweenLooks === 0) held.push(await heldBy(served, heap));
      if (at % 100 === 0) console.log(`${at} swaps, ${answers} answers, ${JSON.stringify(held.at(-1))}`);
    }
    done.abort();
    await visitors;
    heap.close();

    // Warm-up is over after a third.
    const third = Math.floor(held.length / 3);
    const [early, late] = [held.slice(third, 2 * third), held.slice(2 * third)].map((part) => ({
      liveMiB: median(part.map(({ liveMiB }) => liveMiB)),
      rssMiB: median(part.map(({ rssMiB }) => rssMiB)),
      descriptors: median(part.map(({ descriptors }) => descriptors)),
    }));
    assert.ok(early !== undefined && late !== undefined);
    t.diagnostic(
      `${swaps} swaps, ${answers} answers, slowest ${Math.round(slowestMs)} ms (client's own time included); ` +
        `middle third ${early.liveMiB.toFixed(1)} MiB live, ${early.rssMiB} resident, ${early.descriptors} descriptors; ` +
        `last third ${late.liveMiB.toFixed(1)}, ${late.rssMiB}, ${late.descriptors}`,
    );
    assert.ok(answers > swaps, 'there was no load');
    assert.ok(
      late.descriptors <= early.descriptors + 8,
      `${early.descriptors} → ${late.descriptors} descriptors`,
    );
    // From third to third, so 0.1 MiB kept for each of 30 swaps shows, and 3 KiB for each of 1,000.
    assert.ok(late.liveMiB <= early.liveMiB + 1, `${early.liveMiB} → ${late.liveMiB} MiB on the heap`);
    assert.ok(late.rssMiB <= early.rssMiB + 48, `${early.rssMiB} → ${late.rssMiB} MiB resident`);
    const metrics = await (await fetch(`${served.admin}/metrics`)).text();
    assert.ok(!/requests_total\{[^}]*5xx[^}]*\} [1-9]/.test(metrics), 'a 5xx was answered');
  } finally {
    done.abort();
    await served.remove();
    await links.close();
  }
});
