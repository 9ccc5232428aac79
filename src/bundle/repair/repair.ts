// A repair of an archive: the rules in their order, over the paths and then over each text, and what each rule changed. Reads one
// text at a time, and only texts of up to 8 MiB. Invariant: the same bundle and the same modes give the same files; a repair of
// what was repaired changes nothing.

import { hash } from 'node:crypto';
import { applyEdits, type SourceEdit } from '#platform/html/source-edits.ts';
import type { ArchivedFile } from '../archive/archive-writer.ts';
import { packedFiles } from '../archive/packed-files.ts';
import type { BundleFile, BundleNote } from '../bundle-index.ts';
import type { BundleLimits } from '../limits.ts';
import { refusal } from '../refusal.ts';
import { countPages, digestOf, sizeOf, sortFiles } from '../store/digest.ts';
import type { StoredBundle } from '../store/stored-bundle.ts';
import { canonicalEdits } from './canonical-rule.ts';
import { copyEdits, linkedAddresses, lostAddresses, pageCopies } from './folder-index-rule.ts';
import { placeFiles } from './path-rules.ts';
import { describeSite, encodedSitePath, isPage, type RepairSite } from './repair-site.ts';
import { notesAfterRepair } from './repaired-notes.ts';
import { type RepairRuleName, type RuleModes, repairRuleNames } from './rule-modes.ts';
import { searchBoxEdits } from './search-box-rule.ts';
import { isSitemap, sitemapEdits } from './sitemap-rule.ts';

/** No text that is larger is read. */
export const maxRepairedBytes: number = 8 * 1024 * 1024;

/** What a rule did. */
export interface RuleOutcome {
  readonly rule: RepairRuleName;
  /** Files that it changed, moved, added or left out. */
  readonly files: number;
  /** Files that have the defect and keep it, as the rule's mode says. */
  readonly kept: number;
  /** The first paths of either. */
  readonly examples: readonly string[];
}

export interface RepairPlan {
  readonly files: readonly PlannedFile[];
  readonly rules: readonly RuleOutcome[];
  readonly isChanged: boolean;
  readonly digest: string;
  readonly pages: number;
  readonly sizeBytes: number;
  /** As an inspection of the files would have them. */
  readonly notes: readonly BundleNote[];
}

/** As an index of the repaired site would have it; only where it lies in a pack is open. */
export interface PlannedFile extends ArchivedFile, Omit<BundleFile, 'offset'> {}

/** A file to write. `levels` above zero: a copy of a page, for as many folders further up. */
interface RepairedFile extends Pick<BundleFile, 'path' | 'size' | 'isData'> {
  readonly source: BundleFile;
  readonly levels: number;
}

/**
 * Reads each text once; a text that changes is read again when it is written.
 *
 * @param onFile after each file, with how many are done of how many
 * @throws the signal's reason, and what reading the bundle throws
 */
export async function planRepair(
  bundle: StoredBundle,
  modes: RuleModes,
  signal: AbortSignal,
  onFile: (done: number, of: number) => void = () => {},
): Promise<RepairPlan> {
  const record = createRecord();
  for (const { code } of bundle.index.notes) {
    if (code !== 'WrappingFolderRemoved') continue;
    for (const { path } of bundle.index.files) record.changed('wrapping-folder', path);
  }
  const files = await placedFiles(bundle, modes, record, signal);
  const site = describeSite(files);
  const untouched = new Map(packedFiles(bundle).map((file) => [file.path, file]));
  const written: PlannedFile[] = [];
  const rows: BundleFile[] = [];
  for (const file of files) {
    signal.throwIfAborted();
    const { path, source } = file;
    const text = await readText(bundle, file);
    const repaired = text === undefined ? undefined : repairText(text, file, site, modes, record);
    if (repaired === undefined || repaired === text) {
      const { size = 0, read = () => [] } = untouched.get(source.path) ?? {};
      const row = { ...source, path };
      written.push({ ...row, size, read });
      rows.push(row);
    } else {
      const size = repaired.length;
      const read = async function* () {
        const again = (await readText(bundle, file)) ?? '';
        yield Buffer.from(repairText(again, file, site, modes, createRecord()), 'latin1');
      };
      const row = {
        ...{ ...source, path, size },
        sha256: hash('sha256', Buffer.from(repaired, 'latin1'), 'hex'),
      };
      written.push({ ...row, read });
      rows.push(row);
    }
    onFile(rows.length, files.length);
  }
  const sorted = sortFiles(rows);
  const rules = record.outcomes();
  return {
    files: written,
    rules,
    isChanged: rules.some((rule) => rule.files > 0),
    digest: digestOf(sorted),
    pages: countPages(sorted),
    sizeBytes: sizeOf(sorted),
    notes: notesAfterRepair(bundle.index, sorted),
  };
}

/**
 * Copies of pages may make a site larger than servers accept.
 *
 * @throws {PublishableError} `TooManyFiles`, `ContentTooLarge`
 */
export function requireRepairedSize(
  { files, sizeBytes }: { readonly files: readonly unknown[]; readonly sizeBytes: number },
  limits: BundleLimits,
): void {
  if (files.length > limits.maxFiles) throw refusal('TooManyFiles');
  if (sizeBytes > limits.maxTotalBytes) throw refusal('ContentTooLarge');
}

/** The files under their new paths, and copies of pages that lie too deep. */
async function placedFiles(
  bundle: StoredBundle,
  modes: RuleModes,
  record: RepairRecord,
  signal: AbortSignal,
): Promise<readonly RepairedFile[]> {
  const sources = new Map(bundle.index.files.map((file) => [file.path, file]));
  const placed = placeFiles([...sources.keys()], modes);
  for (const { rule, source } of placed.changes) record.changed(rule, source);
  const files = placed.files.flatMap(({ path, source }): readonly RepairedFile[] => {
    const found = sources.get(source);
    if (found === undefined) return [];
    return [{ path, size: found.size, isData: found.isData, source: found, levels: 0 }];
  });
  const lost = modes['folder-index'].word === 'off' ? new Set<string>() : lostAddresses(files);
  if (lost.size === 0) return files;
  const linked = new Set<string>();
  // The menu of one page often names every address, and then the other pages need not be read.
  for (let at = 0; at < files.length && linked.size < lost.size; at += 1) {
    signal.throwIfAborted();
    const file = files[at];
    const text = file !== undefined && isPage(file) ? await readText(bundle, file) : undefined;
    if (file === undefined || text === undefined) continue;
    for (const address of linkedAddresses(text, file.path, lost.difference(linked))) linked.add(address);
  }
  const byPath = new Map(files.map((file) => [file.path, file]));
  const copies = pageCopies(files, linked).flatMap(({ path, page, levels }): readonly RepairedFile[] => {
    const file = byPath.get(page);
    // The addresses of a page that is not read cannot be moved.
    if (file === undefined || file.size > maxRepairedBytes) return [];
    record.changed('folder-index', path);
    return [{ ...file, path, levels }];
  });
  return [...files, ...copies];
}

/** @returns one character for each byte; `undefined` for what no rule reads */
async function readText(bundle: StoredBundle, file: RepairedFile): Promise<string | undefined> {
  const { source } = file;
  if (source.size > maxRepairedBytes || !(isPage(file) || isSitemap(file.path))) return undefined;
  const bytes = Buffer.alloc(source.size);
  await bundle.readInto(source, bytes);
  return bytes.toString('latin1');
}

/** All rules for the text of one file, one after another. Pure but for what it records. */
function repairText(
  text: string,
  { path, levels, isData }: RepairedFile,
  site: RepairSite,
  modes: RuleModes,
  record: RepairRecord,
): string {
  let repaired = levels === 0 ? text : applyEdits(text, copyEdits(text, levels));
  const apply = (rule: RepairRuleName, editsOf: () => readonly SourceEdit[]): void => {
    if (modes[rule].word === 'off') return;
    const edits = editsOf();
    if (edits.length === 0) return;
    if (modes[rule].word === 'keep') {
      record.kept(rule, path);
      return;
    }
    record.changed(rule, path);
    repaired = applyEdits(repaired, edits);
  };
  if (isPage({ path, isData })) {
    const served = encodedSitePath(`/${path.replace(/(?:(^|\/)index)?\.html$/, '$1')}`);
    apply('canonical', () => canonicalEdits(repaired, served, modes.canonical));
    apply('search-box', () => searchBoxEdits(repaired, site.hasSearchIndex));
  } else {
    apply('sitemap', () => sitemapEdits(repaired, site));
  }
  return repaired;
}

interface RepairRecord {
  changed(rule: RepairRuleName, path: string): void;
  kept(rule: RepairRuleName, path: string): void;
  outcomes(): readonly RuleOutcome[];
}

const mostExamples = 5;

function createRecord(): RepairRecord {
  const found = new Map(
    repairRuleNames.map((rule) => [rule, { changed: new Set<string>(), kept: new Set<string>() }]),
  );
  return {
    changed: (rule, path) => void found.get(rule)?.changed.add(path),
    kept: (rule, path) => void found.get(rule)?.kept.add(path),
    outcomes: () =>
      [...found].map(([rule, { changed, kept }]) => ({
        rule,
        files: changed.size,
        kept: kept.size,
        examples: [...changed, ...kept].slice(0, mostExamples),
      })),
  };
}
