// The time that a repair takes for each page: a site whose pages have the defects of a hosted vendor's export, 150 KB each, as a
// framework renders them. `node test/bench/bundle/repair.ts [--pages 200] [--rounds 5]`

import { parseArgs } from 'node:util';
import { planRepair } from '#bundle/repair/repair.ts';
import { readRuleSet } from '#bundle/repair/rule-modes.ts';
import { memoryBundle } from '../../support/memory-bundle.ts';
import { measureByTurns, printMeasured, timed } from './measure.ts';

const { values } = parseArgs({
  options: { pages: { type: 'string', default: '200' }, rounds: { type: 'string', default: '5' } },
});
const pages = Number(values.pages);
const site = memoryBundle(Object.fromEntries(madeFiles(pages)));
const repairs = {
  'all rules': 'wrapping-folder launchers folder-index canonical=set=docs.example.com search-box sitemap',
  'no page is too deep': 'canonical=set=docs.example.com search-box sitemap',
  'addresses in heads alone': 'canonical=strip',
};

const contestants = Object.entries(repairs).map(([name, text]) => ({
  name,
  run: () => timed(() => repairOnce(text)),
}));
const measured = await measureByTurns(contestants, Number(values.rounds), 120_000);
printMeasured(`${pages} pages, ${Math.round(site.index.sizeBytes / pages / 1024)} KB each`, measured);
for (const { name, processorMs } of measured) {
  console.log(`  ${(processorMs / pages).toFixed(2)} ms of the processor a page: ${name}`);
}

/** Plans, and writes every file once, as a copy does. */
async function repairOnce(text: string): Promise<void> {
  const modes = readRuleSet(text);
  if (typeof modes === 'string') throw new Error(`no rule ${modes}`);
  const plan = await planRepair(site, modes, new AbortController().signal);
  for (const { read } of plan.files) for await (const _piece of read());
}

/** Every fifth page lies one folder too deep. */
function* madeFiles(count: number): Generator<readonly [string, string]> {
  const nav = Array.from(
    { length: 400 },
    (_, at) => `<li class="nav-item"><a href="/guide-${at}">Guide ${at}</a></li>`,
  );
  const words = 'The export holds every page and every file that a page loads, and nothing else. ';
  const main = Array.from(
    { length: 120 },
    () => `<p class="prose">${words.repeat(5)}<code>npx run</code></p>`,
  );
  const payload = JSON.stringify({ tree: main.join('') });
  for (let at = 0; at < count; at += 1) {
    const head = `<head><meta charset="utf-8"><title>Guide ${at}</title><link rel="canonical" href="https://undefined.docs.example.com/guide-${at}"><meta property="og:url" content="https://undefined.docs.example.com/guide-${at}"></head>`;
    const box = '<button id="search-bar-entry">Search</button><div id="chat-assistant-sheet"></div>';
    const text = `<!doctype html><html>${head}<body>${box}<nav><ul>${nav.join('')}</ul></nav><main>${main.join('')}<img src="images/a.png" srcset="a.png 1x, b.png 2x"></main><script>self.__next_f.push(${payload})</script></body></html>`;
    yield [at % 5 === 0 ? `guide-${at}/index/index.html` : `guide-${at}.html`, text];
  }
  yield ['index.html', '<html><head></head><body><a href="/guide-0">Guide</a></body></html>'];
}
