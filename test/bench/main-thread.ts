// What the worst input of each parser costs the main thread of the operator and of the bundle server: CPU time of that
// thread, each in a process of its own, so that nothing is warm. To be run alone on a quiet machine:
//   node test/bench/main-thread.ts
// Prints one line for each parser, with the size of its input. Judges nothing; 50 ms is what the project allows.

import { spawnSync } from 'node:child_process';
import { worstInputs } from './worst-inputs.ts';

const [only] = process.argv.slice(2);

if (only === undefined) {
  for (const { name } of worstInputs) {
    const { stdout, stderr } = spawnSync(process.execPath, [import.meta.filename, name], {
      encoding: 'utf8',
    });
    process.stdout.write(stdout === '' ? `${name}: ${stderr}\n` : stdout);
  }
} else {
  const { name, bytes, read } = worstInputs.find((one) => one.name === only)?.prepare() ?? {};
  if (read === undefined) throw new Error(`no parser is called ${only}`);
  const before = process.threadCpuUsage();
  const result = read();
  if (result instanceof Promise) await result;
  const { user, system } = process.threadCpuUsage(before);
  const ms = ((user + system) / 1000).toFixed(1);
  process.stdout.write(`${ms.padStart(8)} ms  ${String(bytes).padStart(9)} bytes  ${name}\n`);
}
