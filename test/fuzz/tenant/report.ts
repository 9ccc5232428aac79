// The figures of a campaign as a table for people.

import type { CampaignReport } from './campaign.ts';

/** @returns lines; those of inputs and answers by how often they came */
export function reportLines(report: CampaignReport): readonly string[] {
  const { inputs, writes, answers, documents, probes, served } = report;
  const mib = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MiB`;
  const ms = (value: number): string => `${Math.round(value)} ms`;
  const counts = (title: string, list: readonly (readonly [string, number])[]): readonly string[] => [
    `${title}: ${list.reduce((sum, [, count]) => sum + count, 0)}`,
    ...list.map(([kind, count]) => `  ${count} ${kind}`),
  ];
  return [
    ...counts('inputs of the hostile tenant', inputs.list()),
    ...counts('its writes, as the API server answered them', writes.list()),
    ...counts(
      'answers of its vendor',
      answers.flatMap((tally) => tally.list()).sort(([, a], [, b]) => b - a),
    ),
    ...counts('its documents at the end, as the operator calls them', documents.list()),
    ...counts('answers of its git host and registry', report.hosts.list()),
    ...counts('its git targets at the end, as the operator calls them', report.gitTasks.list()),
    ...counts('changed kits', report.kits.verdicts.list()),
    ...counts('hooks without the secret', report.hooks.attacks.list()),
    `hooks with the secret: ${report.hooks.accepted} of ${report.hooks.sent} accepted; receiver ${mib(report.hooks.mostResidentBytes)} at most, kit verify ${mib(report.kits.mostResidentBytes)}`,
    ...probes.probes.map(
      ({ path, asked, failed, mostFailedInRow, longestMs, longestOutageMs, p99Ms }) =>
        `${path}: asked ${asked}, failed ${failed}, in a row ${mostFailedInRow}, p99 ${ms(p99Ms)}, longest ${ms(longestMs)}, silent for ${ms(longestOutageMs)}`,
    ),
    `main thread: longest pause ${ms(report.longestPauseMs)}, longest work in one go ${ms(report.longestBusyMs)} of processor time`,
    `resident memory: ${mib(probes.mostResidentBytes)} at most, limit ${mib(report.limitBytes)}`,
    ...served.map(
      ({ name, refreshes, latestMs, exportsMs, openMs }) =>
        `served ${name}: ${refreshes} refreshes, latest ${ms(latestMs)} after its time; exports in ${exportsMs.map(ms).join(', ') || 'none'}` +
        `${openMs === undefined ? '' : `, one open for ${ms(openMs)}`}`,
    ),
    `last input by dice: ${report.lastInput}`,
  ];
}
