// What a key means: which keys open the search, and which move in its results. Pure. Refuses keys while an input method composes a
// word, because Enter and the arrows then choose a word.

/** Of a keyboard event, what decides. */
export interface PressedKey {
  readonly key: string;
  readonly code: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  readonly shiftKey: boolean;
  readonly isComposing: boolean;
}

/**
 * `/`, Ctrl-K and Cmd-K. Layouts without Latin letters name another letter for K, so its position decides there.
 *
 * @param isEditing the key goes into a text of the page
 */
export function opensSearch(pressed: PressedKey, isEditing: boolean): boolean {
  const { key, code, ctrlKey, metaKey, altKey, isComposing, shiftKey } = pressed;
  if (isComposing || altKey) return false;
  // A German keyboard has the slash above 7.
  if (key === '/') return !ctrlKey && !metaKey && !isEditing;
  const isK = key.toLowerCase() === 'k' || (code === 'KeyK' && !/^[a-z]$/i.test(key));
  return isK && !shiftKey && ctrlKey !== metaKey;
}

export type ResultMove = 'next' | 'previous' | 'first' | 'last';

const moves: Readonly<Record<string, ResultMove>> = {
  ArrowDown: 'next',
  ArrowUp: 'previous',
  Home: 'first',
  End: 'last',
};

/** Shift stays with the text: it selects there. */
export function resultMove({
  key,
  ctrlKey,
  metaKey,
  altKey,
  shiftKey,
  isComposing,
}: PressedKey): ResultMove | undefined {
  if (isComposing || ctrlKey || metaKey || altKey || shiftKey) return undefined;
  return moves[key];
}

/**
 * Around the end to the beginning, and back.
 *
 * @param at -1 where no result is chosen
 */
export function movedPosition(move: ResultMove, at: number, count: number): number {
  switch (move) {
    case 'first':
      return 0;
    case 'last':
      return count - 1;
    case 'next':
      return (at + 1) % count;
    case 'previous':
      return at <= 0 ? count - 1 : at - 1;
  }
}
