// A watch's body: chunks of bytes become one parsed event per line. Owns the framing and its bounds.
// Refuses: a line that is not JSON or has no end, after which the resourceVersion cannot be trusted. A line of too many
// fields is left out, because one tenant's object must not end the watch.

import { readLines } from '#platform/runtime/lines.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import { type JsonRecord, numberAt, recordAt, textAt } from '#platform/wire/json-fields.ts';
import { isRecord } from '#platform/wire/json-text.ts';
import { isCostly } from '../transport/bounded-json.ts';

export type WatchEvent =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: JsonRecord }
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string };

/** Far above etcd's own limit of one object (1.5 MiB), JSON escapes included. */
const maxLineBytes = 16 * 1024 * 1024;

/**
 * @param onLeftOut called for each event whose object has too many fields
 * @throws {ClusterError} `Gone` for an ERROR event with 410, `Unavailable` for any other and for broken framing,
 * and whatever the chunks throw
 */
export async function* readWatchEvents(
  chunks: AsyncIterable<Uint8Array>,
  onLeftOut: () => void = () => {},
): AsyncGenerator<WatchEvent> {
  // A rest without a newline was cut off; the next watch brings it again.
  for await (const line of readLines(chunks, maxLineBytes, tooLong)) {
    if (isCostly(line)) {
      onLeftOut();
      continue;
    }
    const event = readEvent(line);
    if (event !== undefined) yield event;
  }
}

function tooLong(): ClusterError {
  return new ClusterError('Unavailable', `a watch event is longer than ${maxLineBytes / 1024 / 1024} MiB`);
}

function readEvent(line: string): WatchEvent | undefined {
  if (line.trim() === '') return undefined;
  let event: unknown;
  try {
    event = JSON.parse(line);
  } catch (cause) {
    throw new ClusterError('Unavailable', 'a watch event is not JSON', { cause });
  }
  if (!isRecord(event)) throw new ClusterError('Unavailable', 'a watch event is not an object');
  const object = recordAt(event, 'object');
  switch (event['type']) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      return { type: event['type'], object };
    case 'BOOKMARK': {
      const resourceVersion = textAt(recordAt(object, 'metadata'), 'resourceVersion');
      return resourceVersion === undefined ? undefined : { type: 'BOOKMARK', resourceVersion };
    }
    case 'ERROR': {
      const code = numberAt(object, 'code');
      throw code === 410
        ? new ClusterError('Gone', 'the resourceVersion of the watch has expired')
        : new ClusterError('Unavailable', `the watch ended with an error (code ${code ?? 'unknown'})`);
    }
    default:
      return undefined;
  }
}
