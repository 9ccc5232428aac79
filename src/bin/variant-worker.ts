// Composition root of the thread that makes something of a stored bundle: files of a search and Markdown, or precompressed variants of
// what is served. Started by made-keeper.ts and variant-keeper.ts of src/server. Runs at a low priority, so that serving comes first.

import { setPriority } from 'node:os';
import { systemClock } from '#platform/runtime/clock.ts';
import { serveTasks } from '#platform/runtime/task.ts';
import type { MadeTask, PreparedFiles } from '#server/made/made-task.ts';
import { prepareVariants } from '#server/variants/variant-making.ts';
import type { PreparedVariants, VariantTask } from '#server/variants/variant-task.ts';

// On Linux this sets the calling thread alone, to a tenth of the weight of the others, so that it still progresses on a
// busy node. A system that refuses it works at the usual priority.
try {
  setPriority(10);
} catch {}

// Each is loaded only for a server that asks for it.
const makers = {
  search: async () => (await import('#site/search-program/make-search.ts')).makeSearchFiles,
  markdown: async (basePath: string) =>
    (await import('#site/markdown/markdown-files.ts')).makeMarkdownFiles({ basePath }),
};

serveTasks(async (task: VariantTask | MadeTask): Promise<PreparedVariants | PreparedFiles> => {
  if ('encodings' in task) return prepareVariants(task, systemClock);
  const { prepareFiles } = await import('#server/made/made-making.ts');
  return prepareFiles(task, makers, systemClock);
});
