// A search box of a known tool whose server or index is absent: a click on it, or a key in it, opens this search. Listens on the
// window, before the page's own code, so a framework may draw the box again at any time. Refuses to change the box, except that a
// button which waits for a script that never comes is enabled. Invariant: no listener for what comes often, such as moves and scrolls.

import { searchBoxes } from './known-boxes.ts';
import { isTextField } from './page-access.ts';

export interface TakeoverDependencies {
  /** Whether boxes are left to the page. */
  readonly isQuiet: () => boolean;
  readonly open: (text?: string) => void;
  /** A reader is about to open it. */
  readonly prepare: () => void;
}

/** @returns whether a reader sees such a box now */
export function hasVisibleBox(): boolean {
  return [...document.querySelectorAll(searchBoxes)].some(
    (box) => box.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && isInWindow(box),
  );
}

/** Frameworks leave boxes for narrow screens outside the window. */
function isInWindow(box: Element): boolean {
  const { left, right, width, height } = box.getBoundingClientRect();
  return width > 0 && height > 0 && right > 0 && left < innerWidth;
}

export function takeOverBoxes({ isQuiet, open, prepare }: TakeoverDependencies): void {
  const take = (event: Event): boolean => {
    const target = event.composedPath()[0];
    if (!(target instanceof Element) || target.closest(searchBoxes) === null || isQuiet()) return false;
    event.preventDefault();
    event.stopImmediatePropagation();
    return true;
  };
  const whenTaken = (type: string, run: () => void): void =>
    addEventListener(
      type,
      (event) => {
        if (take(event)) run();
      },
      true,
    );
  whenTaken('pointerdown', prepare);
  // The focus stays where it is until the panel has it.
  whenTaken('mousedown', () => {});
  whenTaken('click', () => open());
  addEventListener(
    'keydown',
    (event) => {
      const { key, ctrlKey, metaKey, altKey, isComposing } = event;
      if (ctrlKey || metaKey || altKey || isComposing || !isTextField(event.composedPath()[0])) return;
      // A slash opens the search, wherever the focus is: some tools focus their box when a page opens.
      const isLetter = [...key].length === 1 && key !== ' ' && key !== '/';
      if ((isLetter || ['/', 'Enter', 'ArrowDown'].includes(key)) && take(event)) {
        open(isLetter ? key : undefined);
      }
    },
    true,
  );
}

/** Starlight's button waits for its module, which a disk and the portable form do not run. */
export function enableBoxes(): void {
  for (const box of document.querySelectorAll(searchBoxes)) {
    const buttons = box.querySelectorAll('button[disabled]');
    for (const button of box.matches('button[disabled]') ? [box, ...buttons] : buttons) {
      button.removeAttribute('disabled');
    }
  }
}
