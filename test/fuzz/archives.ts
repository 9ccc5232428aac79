// Fuzzing of the archive readers, on demand: `node test/fuzz/archives.ts --cases 100000 --seed 1 [--jobs 2]`.
// Ends with 1 and the cases' numbers if anything but a refusal or the packed files came out, or memory passed its
// bound; a case is met again with `--seed S --from CASE --cases 1`.

import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { maxPeakBytes, maxResidentBytes, runJobs } from './campaign.ts';

const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: '100000' },
    seed: { type: 'string', default: '1' },
    from: { type: 'string', default: '0' },
    /** Threads, each with a share of the cases; what is found does not depend on how many. */
    jobs: { type: 'string', default: String(availableParallelism()) },
  },
});
const start = performance.now();
const seconds = (): number => Math.round((performance.now() - start) / 1000);
const cases = Number(values.cases);
let said = 0;
const report = await runJobs(Number(values.jobs), {
  cases,
  seed: Number(values.seed),
  from: Number(values.from),
  onProgress: (done) => {
    if (done - said < cases / 20) return;
    said = done;
    const leftS = Math.round((seconds() / done) * (cases - done));
    console.log(`${done} of ${cases} cases, ${seconds()} s, about ${leftS} s to go`);
  },
});
const codes = Object.entries(report.rejected).sort(([, a], [, b]) => b - a);
const mib = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MiB`;
console.log(`seed ${values.seed}: ${report.done} cases in ${seconds()} s`);
console.log(`read as packed: ${report.read}; rejected: ${codes.reduce((sum, [, count]) => sum + count, 0)}`);
for (const [code, count] of codes) console.log(`  ${code} ${count}`);
const mostResidentBytes = maxResidentBytes(Number(values.jobs));
const isWithin = report.peakBytes <= maxPeakBytes && report.peakResidentBytes <= mostResidentBytes;
console.log(`largest heap and buffers of a thread: ${mib(report.peakBytes)}, bound ${mib(maxPeakBytes)}`);
console.log(`resident, all in all: ${mib(report.peakResidentBytes)}, bound ${mib(mostResidentBytes)}`);
console.log(report.wrong.length === 0 ? 'nothing wrong' : `WRONG:\n${report.wrong.join('\n')}`);
if (!isWithin) console.log('WRONG: the bound of memory was passed');
process.exitCode = report.wrong.length === 0 && isWithin ? 0 : 1;
