// The first lines of an export's report, from the steps on its archive and the notes of its inspection. Owns their words. Pure. Invariant: at
// most one line for the steps and for each kind of gap, each short enough for status, and without what stands in no report.

import { emptySearchWords, isSearchStep, recordedRevision } from '#operator/staticexport/wanted-transform.ts';
import { printable } from '#platform/wire/printable-text.ts';
import type { ContentNote, RepairedFiles } from '../result.ts';

const subjects: Readonly<Record<string, readonly [one: string, several: string]>> = {
  MissingFromExport: ['1 page or file is missing', 'pages or files are missing'],
  LoadedFromElsewhere: ['1 file comes from another host', 'files come from other hosts'],
  LeftOutOfExport: ['1 address is left out', 'addresses are left out'],
};
const mostLength = 256;

/** @returns `undefined` where the report has nothing to say, or there is no report */
export function reportLines(
  notes: readonly ContentNote[] = [],
  repaired: readonly RepairedFiles[] = [],
  changed?: string,
): string[] | undefined {
  const gaps = Object.entries(subjects).flatMap(([code, [one, several]]) => {
    const note = notes.find((known) => known.code === code);
    if (note === undefined) return [];
    const words = note.count === 1 ? one : `${note.count} ${several}`;
    const example = note.count === 1 ? `: ${note.example}` : `, such as ${note.example}`;
    return [`${printable(`${words}${example}`, mostLength - 1)}.`];
  });
  const lines = [...stepsLine(repaired, changed), ...gaps];
  return lines.length === 0 ? undefined : lines;
}

/** `Repaired: canonical 3 files, sitemap 1 file. Search added: 40 pages.` */
function stepsLine(repaired: readonly RepairedFiles[], changed: string | undefined): readonly string[] {
  const rules = repaired.filter(({ rule, files }) => !isSearchStep(rule) && files > 0);
  const counts = rules.map(({ rule, files }) => `${rule} ${files} ${files === 1 ? 'file' : 'files'}`);
  const files = rules.length === 0 ? [] : [`Repaired: ${counts.join(', ')}`];
  const searches = repaired.filter(({ rule }) => isSearchStep(rule)).map(searchSentence);
  const sentences = [...files, ...searches, ...(changed === undefined ? [] : [changed])];
  return sentences.length === 0 ? [] : [`${printable(sentences.join('. '), mostLength - 1)}.`];
}

function searchSentence({ files, without = 0 }: RepairedFiles): string {
  if (files === 0 && without === 0) return emptySearchWords;
  const added = `Search added: ${files} ${files === 1 ? 'page' : 'pages'}`;
  if (without === 0) return added;
  return `${added}; ${without} ${without === 1 ? 'page cannot load it' : 'pages cannot load it'}`;
}

interface AppliedSteps {
  readonly repair?: string | undefined;
  readonly repairRevision?: string | undefined;
}

/** @returns which revisions differ, without the end of its sentence; `undefined`: none, or the rules are not the same */
export function rulesLine(before: AppliedSteps | undefined, now: AppliedSteps): string | undefined {
  if (now.repair === undefined || before?.repair !== now.repair) return undefined;
  const [old, recent] = [before, now].map((one) => recordedRevision(one)?.split(' ') ?? []);
  const changed = recent?.filter((one) => !old?.includes(one)).join(', ') ?? '';
  const earlier = old?.filter((one) => !recent?.includes(one)).join(', ') ?? '';
  return changed === '' ? undefined : `Rules changed with the operator: ${changed}; before: ${earlier}`;
}
