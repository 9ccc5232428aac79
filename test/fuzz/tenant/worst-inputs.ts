// The first inputs of every campaign: each shape of document, each answer to each call, each archive, each schedule, and
// statuses that the tenant writes itself. Pure.

import { diceOf } from '../mutation.ts';
import { stages } from './answer.ts';
import { listAnswerKinds } from './answers.ts';
import type { TenantContext } from './context.ts';
import { listWorstDocuments } from './documents.ts';
import { repositoryPath, shapeNames } from './hostile-hosts.ts';
import {
  apply,
  documentsEach,
  documentsInput,
  forgeStatus,
  gitExportCount,
  gitInput,
  hostileSpec,
  mirrorExportCount,
  mirrorInput,
  publishedCount,
  staticExport,
  type TenantInput,
} from './objects.ts';
import { listSchedules } from './specs.ts';
import { hostileDomain } from './vendor.ts';

/** Statuses among them. */
const forgedCount = 24;

/** Every shape of document, every answer of every call, every archive and every schedule, once. */
export function listWorstInputs(context: TenantContext, archiveCount: number): readonly TenantInput[] {
  const texts = listWorstDocuments();
  const batches = Array.from({ length: Math.ceil(texts.length / documentsEach) }, (_, at) =>
    documentsInput(
      texts.slice(at * documentsEach, (at + 1) * documentsEach),
      at % publishedCount,
      `worst-${at}`,
      context,
    ),
  );
  const answers = stages.flatMap((stage) =>
    listAnswerKinds(stage).map((_kind, at) =>
      apply(
        staticExport(
          `worst-${stage}-${at}`,
          hostileSpec(at % 2 === 0 ? context.hostileUrl : context.neighbourUrl, hostileDomain(stage, at, 0)),
        ),
      ),
    ),
  );
  const archives = Array.from({ length: archiveCount }, (_, at) =>
    apply(staticExport(`worst-file-${at}`, hostileSpec(context.hostileUrl, hostileDomain('file', at, 0)))),
  );
  const timed = listSchedules().map((when, at) =>
    apply(
      staticExport(`timed-${at}`, {
        ...hostileSpec(context.hostileUrl, hostileDomain('poll', undefined, at)),
        ...when,
      }),
    ),
  );
  return [
    ...batches,
    ...shapeNames.map((shape, at) =>
      gitInput(gitExportCount + at, repositoryPath(shape, at), `w${at}`, context),
    ),
    ...Array.from({ length: mirrorExportCount }, (_, at) => mirrorInput(at, 'worst', context)),
    { kind: 'every answer', writes: answers },
    { kind: 'every archive', writes: archives },
    { kind: 'every schedule', writes: timed },
    ...Array.from({ length: forgedCount }, (_, at) => forgeStatus(diceOf(at))),
  ];
}

/** Archives that each take a minute to arrive: they fill the queue for inspections. */
export function listSlowArchives(context: TenantContext, count: number, kind: number): TenantInput {
  const writes = Array.from({ length: count }, (_, at) =>
    apply(staticExport(`slow-${at}`, hostileSpec(context.hostileUrl, hostileDomain('file', kind, at)))),
  );
  return { kind: 'slow archives', writes };
}
