// Fuzzing of the archive readers, on demand: `node test/fuzz/archives.ts --cases 100000 --seed 1`.
// Ends with 1 and the cases' numbers if anything but a refusal or the packed files came out; a case is met again
// with `--seed S --from CASE --cases 1`.

import { parseArgs } from 'node:util';
import { runCampaign } from './campaign.ts';

const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: '100000' },
    seed: { type: 'string', default: '1' },
    from: { type: 'string', default: '0' },
  },
});
const start = performance.now();
const cases = Number(values.cases);
const report = await runCampaign({
  cases,
  seed: Number(values.seed),
  from: Number(values.from),
  onProgress: (done) => {
    if (done % 10_000 === 0)
      console.log(`${done} cases, ${Math.round((performance.now() - start) / 1000)} s`);
  },
});
const codes = Object.entries(report.refused).sort(([, a], [, b]) => b - a);
console.log(
  `seed ${values.seed}: ${report.done} cases in ${Math.round((performance.now() - start) / 1000)} s`,
);
console.log(`read as packed: ${report.read}; refused: ${codes.reduce((sum, [, count]) => sum + count, 0)}`);
for (const [code, count] of codes) console.log(`  ${code} ${count}`);
console.log(`largest heap and buffers: ${Math.round(report.peakBytes / 2 ** 20)} MiB`);
console.log(report.wrong.length === 0 ? 'nothing wrong' : `WRONG:\n${report.wrong.join('\n')}`);
process.exitCode = report.wrong.length === 0 ? 0 : 1;
