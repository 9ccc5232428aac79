// The list of results: one option for each, with the words that were found marked, and which of them is chosen. Owns the listbox and
// its options. Refuses the focus: it stays in the text, and `aria-activedescendant` names the option (the combobox pattern of ARIA).

import type { MarkedText, SearchResult } from '../search/search-results.ts';
import { movedPosition, type ResultMove } from './key-commands.ts';
import { newElement } from './new-element.ts';

export interface ResultsList {
  readonly element: HTMLElement;
  /** The first is chosen. */
  show(results: readonly SearchResult[]): void;
  move(move: ResultMove): void;
  chosen(): HTMLAnchorElement | undefined;
  /** In the reader's language. */
  label(text: string): void;
}

/**
 * @param addressOf a result
 * @param onChosen with the id of the chosen option, or without where there is none
 */
export function createResultsList(
  addressOf: (result: SearchResult) => string,
  onChosen: (id: string | undefined) => void,
): ResultsList {
  const element = newElement('div', { id: 'results', role: 'listbox', class: 'results', hidden: '' });
  let options: readonly HTMLAnchorElement[] = [];
  let at = -1;

  const choose = (next: number): void => {
    options[at]?.setAttribute('aria-selected', 'false');
    at = next;
    const option = options[at];
    option?.setAttribute('aria-selected', 'true');
    onChosen(option?.id);
  };
  element.addEventListener('pointermove', ({ target }) => {
    if (!(target instanceof Element)) return;
    const next = options.findIndex((option) => option.contains(target));
    if (next >= 0 && next !== at) choose(next);
  });

  return {
    element,
    show: (results) => {
      options = results.map((result, index) => newOption(result, index, addressOf(result)));
      element.replaceChildren(...options);
      element.hidden = options.length === 0;
      element.scrollTop = 0;
      choose(options.length > 0 ? 0 : -1);
    },
    move: (move) => {
      if (options.length === 0) return;
      choose(movedPosition(move, at, options.length));
      options[at]?.scrollIntoView({ block: 'nearest' });
    },
    chosen: () => options[at],
    label: (text) => element.setAttribute('aria-label', text),
  };
}

function newOption(
  { title, heading, breadcrumbs, excerpt }: SearchResult,
  index: number,
  address: string,
): HTMLAnchorElement {
  const id = `result-${index}`;
  const lines: HTMLElement[] = [];
  if (breadcrumbs.length > 0) {
    lines.push(newElement('span', { class: 'crumbs', dir: 'auto' }, breadcrumbs.join(' › ')));
  }
  const names = newElement('span', { class: 'names', id: `${id}-name` }, marked('title', title));
  if (heading.text !== '') names.append(marked('heading', heading));
  lines.push(names);
  if (excerpt.text !== '') lines.push(marked('excerpt', excerpt));
  return newElement(
    'a',
    { id, href: address, role: 'option', tabindex: '-1', class: 'result', 'aria-selected': 'false' },
    ...lines,
  );
}

function marked(name: string, { text, marks }: MarkedText): HTMLElement {
  const element = newElement('span', { class: name, dir: 'auto' });
  let done = 0;
  for (const [from, to] of marks) {
    element.append(text.slice(done, from), newElement('mark', {}, text.slice(from, to)));
    done = to;
  }
  element.append(text.slice(done));
  return element;
}
