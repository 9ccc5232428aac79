// Where the state of an export of conversations lies, and whose it is. Pure. Invariant: two exports that would write other
// turns, or to another place, never share a state unless the user names one.

import { createHash } from 'node:crypto';
import { join, resolve } from 'node:path';
import type { CliContext } from '#cli/context.ts';
import { placeKind, type SinkFormat } from '../sinks/open-sink.ts';
import type { StateIdentity } from '../state.ts';

export interface ExportPlace {
  readonly apiBaseUrl: string;
  readonly project: string;
  readonly format: SinkFormat;
  readonly to: string;
}

/** The folder of this user for budgets, keys of redaction and states. */
export const stateHome = (env: CliContext['env']): string =>
  join(env['XDG_STATE_HOME'] || join(env['HOME'] || '.', '.local/state'), 'static-export');

export const stateIdentityOf = ({ apiBaseUrl, project, format, to }: ExportPlace): StateIdentity => ({
  '--api-base-url': apiBaseUrl,
  '--project': project,
  '--format': format,
  '--to': placeKind(to) === 'path' ? resolve(to) : to,
});

export function defaultListingStatePath(home: string, place: ExportPlace): string {
  const name = createHash('sha256')
    .update(JSON.stringify(stateIdentityOf(place)))
    .digest('hex')
    .slice(0, 16);
  return join(home, 'conversations', name);
}
