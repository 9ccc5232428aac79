// `conversations prune`: removes old turns from a destination and its state. Asks before it removes. Refuses a destination
// without a state, because what another program wrote is not this one's to remove.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CliError } from '#cli/cli-error.ts';
import type { CliContext } from '#cli/context.ts';
import { counted } from '#cli/output/amounts.ts';
import { namedPath, notWritten } from '#cli/output/destination.ts';
import { formatInstant } from '#platform/wire/instant.ts';
import { printable } from '#platform/wire/printable-text.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { checkPrunable, dayStart, pruneTurns } from '../prune.ts';
import { openState } from '../state.ts';
import type { ConversationAnswer } from './documents.ts';
import { failedExport } from './export-failure.ts';
import { defaultListingStatePath, type ExportPlace, stateHome, stateIdentityOf } from './state-identity.ts';
import { instantOf, type TimeBound } from './time-bound.ts';

export interface PruneValues extends ExportPlace {
  readonly olderThan: TimeBound;
  readonly state: string | undefined;
  readonly yes: boolean;
}

export async function pruneConversations(
  values: PruneValues,
  _args: readonly string[],
  context: CliContext,
): Promise<ConversationAnswer<'PrunedConversations'>> {
  const { format, to, project } = values;
  const wrong = checkPrunable(format, to);
  if (wrong !== undefined) throw new CliError('usage', 'PruneNotPossible', wrong);
  const folder = values.state ?? defaultListingStatePath(stateHome(context.env), values);
  if (!existsSync(join(folder, 'conversations.sqlite'))) {
    const message =
      'there is no state for these flags; use those of the export, or name its folder with --state';
    throw new CliError('usage', 'StateMissing', message);
  }
  const before = dayStart(instantOf(values.olderThan, context.clock.now()));
  const beforeTime = formatInstant(before);
  const name = namedPath('--to', to);
  if (!values.yes) await confirm(`Remove turns before ${beforeTime} from ${name}?`, context);
  const state = await openState(folder, stateIdentityOf(values), 'part').catch((error: unknown) => {
    throw failedExport(error, values, context.clock.now());
  });
  try {
    const { turns, parts } = await pruneTurns({ state, format, to, project, before });
    return {
      outcome: 'done',
      kind: 'PrunedConversations',
      fields: { project, path: to, beforeTime, turns, parts },
      lines: [
        `Removed ${counted(turns, 'turn')} of ${printable(project)} before ${beforeTime}`,
        ...(parts > 0 ? [`Removed ${counted(parts, 'part')} of ${printable(to)}`] : []),
      ],
    };
  } catch (error) {
    throw error instanceof PublishableError
      ? failedExport(error, values, context.clock.now())
      : notWritten(name, error);
  } finally {
    state.close();
  }
}

async function confirm(question: string, context: CliContext): Promise<void> {
  const answer = await context.confirm(question);
  if (answer === true) return;
  throw answer === undefined
    ? new CliError('usage', 'ConfirmationMissing', 'this removes turns; add --yes')
    : new CliError('usage', 'NotConfirmed', 'not confirmed; nothing was removed');
}
