// The two charts beside each other, as they come: what one lets through, the other must be able to take.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { operatorProgram } from '../../../src/operator/flags.ts';
import { readInvocation } from '../../../src/runtime/flags.ts';
import { version } from '../../../src/runtime/version.ts';
import { bundleServer } from '../../../src/site/server-flags.ts';
import * as operator from './operator-chart.ts';
import { render, workload } from './site-chart.ts';

const own = (args: readonly string[]): readonly string[] =>
  args.slice(1).filter((flag) => !flag.startsWith('--log-level='));

test('no archive that the operator’s chart publishes is too large for the servers of the site’s chart', async () => {
  const promoted = readInvocation(
    operatorProgram,
    version,
    own(operator.argsOf(await operator.render('vendor'), operator.full)),
    {},
  );
  const args = workload(await render('existing-secret')).textsAt('spec.template.spec.containers.0.args');
  const served = readInvocation(bundleServer, version, own(args), {});
  assert.ok(promoted.outcome === 'run' && served.outcome === 'run');
  assert.ok(promoted.values.maxArchiveSize <= served.values.maxArchiveSize);
  assert.ok(promoted.values.maxBundleSize <= served.values.maxBundleSize);
});
