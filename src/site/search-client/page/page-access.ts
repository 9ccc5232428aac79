// What the element reads of the page that it is in: language, direction, font, colours, and what has the focus. Refuses to change the
// page. Invariant: styles are read when the search opens or its button is placed, never while a reader scrolls.

import { choosePanelColours, type PageColour, type PanelColours } from './panel-colours.ts';

export interface PageLook {
  readonly colours: PanelColours;
  readonly isRightToLeft: boolean;
  readonly font: string;
}

export function readPageLook(): PageLook {
  const root = getComputedStyle(document.documentElement);
  const body = document.body === null ? root : getComputedStyle(document.body);
  const backgrounds = [body.backgroundColor, root.backgroundColor].flatMap((text) => readColour(text) ?? []);
  return {
    colours: choosePanelColours(
      backgrounds,
      readColour(body.color),
      matchMedia('(prefers-color-scheme: dark)').matches,
    ),
    isRightToLeft: root.direction === 'rtl' || body.direction === 'rtl',
    font: body.fontFamily,
  };
}

/** What has the focus, inside the shadow roots too. */
export function deepActiveElement(): HTMLElement | undefined {
  let at = document.activeElement;
  while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
  return at instanceof HTMLElement && at !== document.body ? at : undefined;
}

const notTyped = new Set([
  'button',
  'checkbox',
  'color',
  'file',
  'image',
  'radio',
  'range',
  'reset',
  'submit',
]);

/** Whether a key goes into a text. */
export function isTextField(target: EventTarget | undefined): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target.matches('textarea, select, [role="textbox"]')) return true;
  return target instanceof HTMLInputElement && !notTyped.has(target.type);
}

export const isApple = (): boolean => /Mac|iPhone|iPad/.test(navigator.platform);

const legacyColour = /^rgba?\((\d+), (\d+), (\d+)(?:, ([\d.]+))?\)$/;
let canvas: CanvasRenderingContext2D | null | undefined;

/** Colours of newer forms, such as `oklch(…)`, are painted and read back. */
function readColour(text: string): PageColour | undefined {
  const [, red, green, blue, alpha = '1'] = legacyColour.exec(text) ?? [];
  if (red !== undefined) {
    return { red: Number(red), green: Number(green), blue: Number(blue), alpha: Number(alpha) };
  }
  canvas ??= document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  if (!canvas) return undefined;
  canvas.clearRect(0, 0, 1, 1);
  canvas.fillStyle = text;
  canvas.fillRect(0, 0, 1, 1);
  const [r = 0, g = 0, b = 0, a = 0] = canvas.getImageData(0, 0, 1, 1).data;
  return { red: r, green: g, blue: b, alpha: a / 255 };
}
