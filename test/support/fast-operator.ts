// The program `operator` on the fast clock: the composition root of src/bin/operator.ts, for tests that would wait for its
// checks of a minute. Where a flag is a real deadline, it is scaled with the clock: the lease, requests, downloads. Not for
// tests of leases, tokens, kills or the instants of another program.

import '#platform/runtime/v8/small-heap.ts';
import { type OperatorValues, operatorProgram } from '#operator/flags.ts';
import { runOperator } from '#operator/operator.ts';
import { readProxySettings } from '#platform/http/proxy-settings.ts';
import { runProgram } from '#platform/runtime/program.ts';
import { keepWasmPlain } from '#platform/runtime/v8/plain-wasm.ts';
import { createFastClock, originVariable, speed } from './fast-clock.ts';

const worker = (name: string): URL => new URL(`../../src/bin/${name}-worker.ts`, import.meta.url);
const clock = createFastClock(Number(process.env[originVariable]));

const scaled = (values: OperatorValues): OperatorValues => ({
  ...values,
  leaseDuration: values.leaseDuration * speed,
  requestTimeout: values.requestTimeout * speed,
  clusterTimeout: values.clusterTimeout * speed,
  inspectTimeout: values.inspectTimeout * speed,
  reconcileTimeout: values.reconcileTimeout && values.reconcileTimeout * speed,
});

keepWasmPlain();

await runProgram(process, operatorProgram, (values, context) =>
  runOperator(
    scaled(values),
    { ...context, clock },
    {
      bundleWorker: worker('bundle'),
      valuesWorker: worker('values'),
      mirrorWorker: worker('mirror'),
      gitWorker: worker('git'),
      proxy: readProxySettings(process.env),
      source: { kubeconfig: values.kubeconfig, context: values.context, isInCluster: false },
    },
  ),
);
