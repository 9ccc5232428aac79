// The panel in which a reader types: a modal dialog, so that the browser keeps the focus inside, makes the page behind inert, and draws
// it above all layers. Owns text, messages and results. Invariant: after it closes, the focus is where it was when it opened.

import type { SearchResult } from '../search/search-results.ts';
import { resultMove } from './key-commands.ts';
import { newElement, newIcon } from './new-element.ts';
import { deepActiveElement, type PageLook } from './page/page-access.ts';
import type { Phrases } from './phrases.ts';
import { createResultsList } from './results-list.ts';
import type { SearchView } from './search-session.ts';

export interface SearchPanel {
  readonly element: HTMLDialogElement;
  isOpen(): boolean;
  /** @param text that a reader has typed elsewhere; without it, what the panel has is selected */
  open(phrases: Phrases, look: PageLook, text?: string): void;
  close(): void;
  show(view: SearchView): void;
}

export interface PanelDependencies {
  addressOf(result: SearchResult): string;
  onType(text: string): void;
  onClose(): void;
}

export const lensDrawing = 'M7 2a5 5 0 1 0 0 10A5 5 0 0 0 7 2Zm3.6 8.6L14 14';
const crossDrawing = 'm4 4 8 8m0-8-8 8';

export function createSearchPanel({ addressOf, onType, onClose }: PanelDependencies): SearchPanel {
  const input = newElement('input', {
    ...{ type: 'text', role: 'combobox', id: 'query', maxlength: '200', enterkeyhint: 'search' },
    ...{ autocomplete: 'off', autocapitalize: 'off', autocorrect: 'off', spellcheck: 'false' },
    ...{ 'aria-autocomplete': 'list', 'aria-controls': 'results', 'aria-expanded': 'false' },
  });
  const list = createResultsList(addressOf, (id) => {
    if (id === undefined) input.removeAttribute('aria-activedescendant');
    else input.setAttribute('aria-activedescendant', id);
  });
  const closing = newElement('button', { type: 'button', class: 'close' }, newIcon(crossDrawing));
  const status = newElement('span', { role: 'status', class: 'status' });
  const hints = newElement('span', { class: 'hints', 'aria-hidden': 'true' });
  const head = newElement('div', { class: 'head' }, newIcon(lensDrawing), input, closing);
  // Above the results, so that nothing moves when they come.
  const bar = newElement('div', { class: 'bar' }, status, hints);
  const panel = newElement('div', { class: 'panel' }, head, bar, list.element);
  const element = newElement('dialog', {}, panel);
  let words: Phrases | undefined;
  let opener: HTMLElement | undefined;
  /** The results shown are those of an earlier text. */
  let isStale = false;
  let toOpen = false;

  const close = (): void => {
    if (element.open) element.close();
  };
  const follow = (): void => {
    toOpen = isStale;
    if (!toOpen) list.chosen()?.click();
  };
  const showResults = (results: readonly SearchResult[]): void => {
    list.show(results);
    input.setAttribute('aria-expanded', String(results.length > 0));
  };

  input.addEventListener('input', () => {
    toOpen = false;
    onType(input.value);
  });
  element.addEventListener('keydown', (event) => {
    // Keys of the panel mean nothing to the page.
    event.stopPropagation();
    const move = event.target === input ? resultMove(event) : undefined;
    if (move !== undefined && !list.element.hidden) {
      event.preventDefault();
      list.move(move);
    } else if (event.key === 'Enter' && event.target === input && !event.isComposing) {
      event.preventDefault();
      follow();
    }
  });
  element.addEventListener('close', () => {
    onClose();
    if (opener?.isConnected) opener.focus({ preventScroll: true });
    opener = undefined;
  });
  element.addEventListener('pointerdown', ({ target }) => {
    if (target === element) close();
  });
  closing.addEventListener('click', close);
  list.element.addEventListener('click', (event) => {
    const isHere = !event.ctrlKey && !event.metaKey && !event.shiftKey;
    // A place in this page needs no new page, and a modal dialog would hide it.
    if (isHere) close();
  });

  return {
    element,
    isOpen: () => element.open,
    close,
    open: (phrases, { colours, isRightToLeft, font }, text) => {
      if (element.open) return;
      opener = deepActiveElement();
      words = phrases;
      element.lang = phrases.language;
      element.dir = isRightToLeft ? 'rtl' : 'ltr';
      element.className = colours.scheme;
      element.style.setProperty('--sx-back', colours.background);
      element.style.setProperty('--sx-text', colours.text);
      element.style.setProperty('--sx-font', font);
      element.setAttribute('aria-label', phrases.search);
      input.placeholder = `${phrases.search}…`;
      input.setAttribute('aria-label', phrases.search);
      list.label(phrases.results);
      closing.setAttribute('aria-label', phrases.close);
      hints.replaceChildren(...hintsOf(phrases));
      if (text !== undefined) input.value = text;
      element.showModal();
      input.focus();
      if (text === undefined) input.select();
      else onType(text);
    },
    show: (view) => {
      isStale = view.kind === 'searching';
      const isWaiting = isStale || (view.kind === 'answered' && !view.isFinal);
      panel.ariaBusy = String(isWaiting);
      // What an earlier text found stays until there is something else to show.
      if (words === undefined || isStale) return;
      showResults(view.kind === 'answered' ? view.answer.results : []);
      // A screen reader hears one number for one text.
      if (!isWaiting) status.textContent = statusOf(view, words);
      if (toOpen && !isWaiting) follow();
    },
  };
}

function statusOf(view: SearchView, words: Phrases): string {
  if (view.kind === 'failed') return words.failed;
  if (view.kind !== 'answered') return '';
  const { answer, query } = view;
  if (answer.count === 0) return `${words.noResults} “${query}”`;
  return `${words.results}: ${new Intl.NumberFormat(words.language).format(answer.count)}`;
}

function hintsOf({ move, open, close }: Phrases): readonly Node[] {
  const hints = [
    ['↑↓', move],
    ['↵', open],
    ['Esc', close],
  ] as const;
  return hints.map(([key, text]) => newElement('span', {}, newElement('kbd', {}, key), ` ${text}`));
}
