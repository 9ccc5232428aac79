// What `run --once` says at its deadline: what failed last, what was reached, and what helps; and what it shows while an
// export takes long.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { findFreePort } from '../../support/free-port.ts';
import { runWorkplace } from './environment/run-workplace.ts';
import { status } from './environment/scripted-vendor.ts';

// Each needs its first attempts within the deadline, also on a machine that pauses for seconds.
describe('the deadline', { concurrency: 3 }, () => {
  test('an export API that cannot be reached until the deadline is named, with its code and the flag', async (t) => {
    const { to, run } = await runWorkplace(t);
    const closed = `http://127.0.0.1:${await findFreePort()}`;
    const { code, stdout, stderr } = await run('--api-base-url', closed, '--timeout', '8s');
    const error = JSON.parse(stdout);
    assert.deepEqual([code, error.code, error.lastFailure.code], [124, 'DeadlineExceeded', 'NetworkError']);
    assert.match(
      error.lastFailure.message,
      /^the export API at 127\.0\.0\.1:\d+ could not be reached: ECONN/,
    );
    assert.equal(
      error.message,
      `--timeout has passed (8 s). The last attempt failed with NetworkError: ${error.lastFailure.message}`,
    );
    assert.deepEqual(error.next, [
      'Check that --api-base-url is the address of the export API.',
      'Run the same command again to continue.',
    ]);
    assert.deepEqual([error.version, error.written], [undefined, undefined]);
    assert.doesNotMatch(stderr, /\(NetworkError\) \(DeadlineExceeded\)/);
    assert.equal(existsSync(to), false);
  });

  test('the address of a manifest is named by its field', async (t) => {
    const closed = `127.0.0.1:${await findFreePort()}`;
    const { run } = await runWorkplace(t, '', `baseUrl: "http://${closed}", `);
    const { stdout } = await run('--allowed-api-hosts', `http://${closed}`, '--timeout', '8s');
    assert.equal(JSON.parse(stdout).next[0], 'Check that spec.api.baseUrl is the address of the export API.');
  });

  test('a destination that fails until the deadline is named, with the version and what holds it', async (t) => {
    const { folder, to, run, vendor } = await runWorkplace(t);
    // The first download is the inspection.
    vendor.answers.download = (response, count) => count > 1 && status(503)(response);
    const linkFile = join(folder, 'bundle.json');
    const { code, stdout } = await run('--link-file', linkFile, '--timeout', '15s');
    const error = JSON.parse(stdout);
    assert.deepEqual([code, error.code], [124, 'DeadlineExceeded']);
    assert.match(error.message, /^--timeout has passed \(15 s\)\. The last attempt failed with \w+: .*503/);
    assert.match(error.lastFailure.message, /503/);
    assert.deepEqual(
      [error.version, error.written],
      [JSON.parse(readFileSync(linkFile, 'utf8')).version, ['--link-file']],
    );
    assert.equal(existsSync(to), false);
  });
});
