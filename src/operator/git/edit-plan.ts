// What the edits of a task change in one commit's files. Reads each file once and plans its edits in order. Refuses what
// is not a plain text file of the repository. Invariant: a file that no edit changes is not in the result.

import { type KeyName, keyNames } from '#operator/targets/target-plan.ts';
import { planValuesEdit } from '#operator/targets/values.ts';
import { type PathRefusal, refuseEdit } from './edit-path.ts';
import type { Entry } from './git-objects.ts';
import type { GitEdit, GitRefusalCode } from './push-task.ts';

/** The part of a repository that a plan reads. */
export interface FileReader {
  findEntry(tree: string, path: string): Promise<Entry>;
  readFile(oid: string): Promise<Uint8Array>;
}

export type EditPlan =
  | { readonly state: 'held' }
  | { readonly state: 'change'; readonly keys: readonly KeyName[] }
  | ({ readonly state: 'refused' } & PathRefusal);

export interface TreePlan {
  /** By id; one for each edit. */
  readonly plans: ReadonlyMap<string, EditPlan>;
  /** New texts by path, of the edits that are applied. */
  readonly texts: ReadonlyMap<string, string>;
}

/** Bytes; the planner of values refuses less. */
const maxFileBytes = 1024 * 1024;

/** @param isApplied whether a change of this edit belongs to the texts */
export async function planTree(
  files: FileReader,
  tree: string,
  edits: readonly GitEdit[],
  isApplied: (edit: GitEdit) => boolean,
): Promise<TreePlan> {
  const known = new Map<string, string | PathRefusal>();
  const texts = new Map<string, string>();
  const plans = new Map<string, EditPlan>();
  const conflicts = findConflicts(edits);
  for (const edit of edits) {
    const refusal = refuseEdit(edit) ?? conflicts.get(edit.id);
    if (refusal !== undefined) {
      plans.set(edit.id, { state: 'refused', ...refusal });
      continue;
    }
    const text = known.get(edit.path) ?? (await readText(files, tree, edit.path));
    known.set(edit.path, text);
    if (typeof text !== 'string') {
      plans.set(edit.id, { state: 'refused', ...text });
      continue;
    }
    const plan = planValuesEdit(text, edit.wanted, edit.keyPath);
    if (plan.outcome === 'in-sync') plans.set(edit.id, { state: 'held' });
    else if (plan.outcome === 'refused') {
      plans.set(edit.id, { state: 'refused', code: plan.code, message: plan.message });
    } else {
      const keys = keyNames.filter((name) => plan.keys.includes(name));
      plans.set(edit.id, { state: 'change', keys });
      if (!isApplied(edit)) continue;
      known.set(edit.path, plan.text);
      texts.set(edit.path, plan.text);
    }
  }
  return { plans, texts };
}

/** Two values for one key: neither order is right, so the later edit is refused. */
function findConflicts(edits: readonly GitEdit[]): ReadonlyMap<string, PathRefusal> {
  const first = new Map<string, string>();
  const conflicts = new Map<string, PathRefusal>();
  for (const { id, path, keyPath, wanted } of edits) {
    for (const name of keyNames) {
      const value = wanted[name];
      if (value === undefined) continue;
      const key = JSON.stringify([path, keyPath, name]);
      const other = first.get(key) ?? value;
      first.set(key, other);
      if (other !== value) conflicts.set(id, conflict);
    }
  }
  return conflicts;
}

const conflict: PathRefusal = {
  code: 'ConflictingEdits',
  message:
    'Another target writes another value to the same key of the file; give each target keys of its own.',
};

const refusal = (code: GitRefusalCode, message: string): PathRefusal => ({ code, message });

const refusals = {
  absent: refusal('FileNotFound', 'The file is not in the branch; check the path, or add the file.'),
  folder: refusal('NotAFile', 'A folder is at the path; name a YAML file in it.'),
  link: refusal('SymbolicLink', 'The path leads through a symbolic link; name the file itself.'),
  submodule: refusal('Submodule', 'The path leads into a submodule; name the repository of the submodule.'),
} as const;

const lfsForm = /^version https:\/\/(git-lfs\.github\.com|hawser\.github\.com)\/spec\//;

async function readText(files: FileReader, tree: string, path: string): Promise<string | PathRefusal> {
  const entry = await files.findEntry(tree, path);
  if (entry.type !== 'file') return refusals[entry.type];
  const bytes = await files.readFile(entry.oid);
  if (bytes.byteLength > maxFileBytes) {
    return refusal('TooLarge', 'The file is over 1 MiB; keep the values of the site in a file of their own.');
  }
  const text = decode(bytes);
  if (text === undefined) return refusal('NotUtf8', 'The file is not UTF-8 text; save it as UTF-8.');
  if (lfsForm.test(text)) {
    return refusal('LfsPointer', 'The file is stored in Git LFS; exclude it from LFS in .gitattributes.');
  }
  return text;
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    // A byte order mark stays in the file.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Whether an earlier push wrote what is wanted: a file that holds something else was then changed by another client. */
export function wasWritten({ wanted, lastWritten }: GitEdit): boolean {
  if (lastWritten === undefined) return false;
  return keyNames.every((name) => wanted[name] === undefined || wanted[name] === lastWritten[name]);
}
