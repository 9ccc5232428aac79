// `<sx-search>`: the search of a site in one element with a shadow root, behind everything of the page. Owns its button and its panel,
// and when they are placed. Refuses a page whose own search works: there it shows nothing and leaves keys and boxes alone. Invariant:
// it is in the page only after the page has loaded, because a framework compares the page with what its server sent.

import { opensSearch } from './key-commands.ts';
import { newElement, newIcon } from './new-element.ts';
import { enableBoxes, hasVisibleBox, takeOverBoxes } from './page/box-takeover.ts';
import { isApple, isTextField, readPageLook } from './page/page-access.ts';
import type { PageTimers } from './page/page-timers.ts';
import { panelStyle } from './panel-style.ts';
import { phrasesFor } from './phrases.ts';
import { lensDrawing, type SearchPanel } from './search-panel.ts';

export const elementName = 'sx-search';

/** A page whose pictures or scripts hang is not waited for longer. */
const longestLoadMs = 3000;

/** @returns an element that is not in the page yet */
export function createSearchElement(): { readonly host: HTMLElement; readonly root: ShadowRoot } {
  customElements.define(elementName, class extends HTMLElement {});
  const host = document.createElement(elementName);
  const root = host.attachShadow({ mode: 'open' });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(panelStyle);
  root.adoptedStyleSheets = [sheet];
  return { host, root };
}

export const pageLanguage = (): string => document.documentElement.lang;

export interface PlacedElement {
  readonly host: HTMLElement;
  readonly root: ShadowRoot;
  readonly panel: SearchPanel;
  readonly timers: PageTimers;
  /** Whether the page's own search works. */
  readonly isQuiet: () => boolean;
  readonly prepare: () => void;
}

/** Puts the element into the page, keeps it there, and listens for what opens it. */
export function placeElement({ host, root, panel, timers, isQuiet, prepare }: PlacedElement): void {
  const shortcut = newElement('kbd', { 'aria-hidden': 'true' }, isApple() ? '⌘K' : 'Ctrl K');
  const label = newElement('span');
  const button = newElement('button', { type: 'button', class: 'open', hidden: '' });
  button.append(newIcon(lensDrawing), label, shortcut);
  button.setAttribute('aria-keyshortcuts', `${isApple() ? 'Meta' : 'Control'}+K /`);
  root.append(button, panel.element);

  let isPlaced = false;
  let toOpen: (() => void) | undefined;
  let isPlanned = false;

  const place = (): void => {
    isPlanned = false;
    isPlaced = true;
    if (!host.isConnected) document.documentElement.append(host);
    toOpen?.();
    toOpen = undefined;
    const isHidden = isQuiet() || hasVisibleBox();
    if (!isQuiet()) enableBoxes();
    if (!isHidden) dressButton();
    button.hidden = isHidden;
  };
  const dressButton = (): void => {
    const { colours, font, isRightToLeft } = readPageLook();
    const { search, language } = phrasesFor(pageLanguage());
    label.textContent = search;
    button.lang = language;
    button.dir = isRightToLeft ? 'rtl' : 'ltr';
    button.className = `open ${colours.scheme}`;
    button.style.setProperty('--sx-back', colours.background);
    button.style.setProperty('--sx-text', colours.text);
    button.style.setProperty('--sx-font', font);
  };
  /** What a reader does may change the page, its theme or its place. */
  const planPlace = (): void => {
    if (isPlanned || !isPlaced) return;
    isPlanned = true;
    timers.whenIdle(place);
  };
  const open = (text?: string): void => {
    prepare();
    const show = (): void => panel.open(phrasesFor(pageLanguage()), readPageLook(), text);
    if (isPlaced) show();
    else toOpen = show;
  };

  button.addEventListener('click', () => open());
  button.addEventListener('pointerenter', prepare);
  button.addEventListener('focus', prepare);
  addEventListener(
    'keydown',
    (event) => {
      if (!opensSearch(event, isTextField(event.composedPath()[0])) || isQuiet()) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      if (panel.isOpen()) panel.close();
      else open();
    },
    true,
  );
  takeOverBoxes({ isQuiet, open, prepare });
  for (const type of ['click', 'popstate', 'resize', 'pageshow']) addEventListener(type, planPlace, true);
  // A framework may draw the whole document again.
  new MutationObserver(planPlace).observe(document.documentElement, { childList: true });

  if (document.readyState === 'complete') timers.whenIdle(place);
  else {
    const cancel = timers.after(longestLoadMs, place);
    addEventListener('load', () => {
      cancel();
      timers.whenIdle(place);
    });
  }
}
