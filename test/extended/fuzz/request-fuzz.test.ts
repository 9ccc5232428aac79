// A long run of random raw requests against the bundle server. REQUEST_FUZZ_RUNS for another number of them, REQUEST_FUZZ_SEED to
// repeat a run.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  type ConformanceSite,
  serveConformanceSite,
} from '../../integration/server/conformance/conformance-site.ts';
import { fuzzRequests } from '../../integration/server/fuzzed-requests.ts';

const runs = Number(process.env['REQUEST_FUZZ_RUNS'] ?? '20000');
const seed = Number(process.env['REQUEST_FUZZ_SEED'] ?? '20261121');

let site: ConformanceSite;
before(async () => {
  site = await serveConformanceSite();
});
after(() => site.remove());

test(`${runs} random requests or pipelines have whole answers below 500, and the process goes on`, {
  timeout: 20 * 60_000,
}, async () => {
  await fuzzRequests(site.port, runs, seed);
  assert.equal(site.served.child().hasExited(), false);
  assert.doesNotMatch(site.served.output(), /"level":"(warn|error)"/);
});
