// The program `operator`: composition root. Reads the environment and the location of its workers; what it does is in
// src/operator.

// First, because they affect all that follows.
import '#platform/runtime/supported-node.ts';
import '#platform/runtime/v8/small-heap.ts';
import { operatorProgram } from '#operator/flags.ts';
import { readConnectionEnvironment } from '#operator/kube/transport/connection.ts';
import { runOperator } from '#operator/operator.ts';
import { requireProxySettings } from '#platform/http/proxy-settings.ts';
import { runProgram } from '#platform/runtime/program.ts';
import { keepWasmPlain } from '#platform/runtime/v8/plain-wasm.ts';

// The workers are in the folder of this file, in the sources and in the build.
const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'mjs';
const bundleWorker = new URL(`./bundle-worker.${extension}`, import.meta.url);
const valuesWorker = new URL(`./values-worker.${extension}`, import.meta.url);
const mirrorWorker = new URL(`./mirror-worker.${extension}`, import.meta.url);
const gitWorker = new URL(`./git-worker.${extension}`, import.meta.url);
keepWasmPlain();

await runProgram(process, operatorProgram, (values, context) =>
  runOperator(values, context, {
    bundleWorker,
    valuesWorker,
    mirrorWorker,
    gitWorker,
    proxy: requireProxySettings(process.env),
    source: {
      kubeconfig: values.kubeconfig,
      context: values.context,
      isInCluster: process.env['KUBERNETES_SERVICE_HOST'] !== undefined,
      environment: readConnectionEnvironment(process.env),
    },
  }),
);
