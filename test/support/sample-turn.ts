// A turn as sinks get it, with the fields that a test chooses.

import { contentHash, type Turn, turnKey } from '#conversations/turn.ts';

export function sampleTurn(fields: Partial<Turn> = {}): Turn {
  const turn = {
    project: 'docs',
    conversation: 'c1',
    timestamp: '2026-11-01T09:00:00.000Z',
    timestamp_raw: '2026-11-01T09:00:00Z',
    query: 'How do I log in?',
    response: 'With a key.',
    category: null,
    resolution_status: null,
    page_url: null,
    sources: [{ title: 'Login', url: 'https://docs.example.com/login' }],
    change: 'insert',
    observed_at: '2026-11-02T00:00:00.000Z',
    ...fields,
  } as const;
  return { turn_key: turnKey(turn, 0), content_hash: contentHash(turn), ...turn };
}
