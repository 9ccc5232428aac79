// The program `webhook-receiver`: composition root. Passes the process to runProgram; what it does is in src/operator/webhook.
// Reads only whether it runs in a pod.

import '#platform/runtime/supported-node.ts';
import '#platform/runtime/v8/small-heap.ts';
import { readConnectionEnvironment } from '#operator/kube/transport/connection.ts';
import { runWebhookReceiver, webhookReceiverProgram } from '#operator/webhook/program.ts';
import { runProgram } from '#platform/runtime/program.ts';
import { keepWasmPlain } from '#platform/runtime/v8/plain-wasm.ts';

keepWasmPlain();

await runProgram(process, webhookReceiverProgram, (values, context) =>
  runWebhookReceiver(values, context, {
    isInCluster: process.env['KUBERNETES_SERVICE_HOST'] !== undefined,
    environment: readConnectionEnvironment(process.env),
  }),
);
