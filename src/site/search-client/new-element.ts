// Elements of the search, made without HTML as text: a policy of the page may refuse it, and a title of a page must stay a text. Owns
// nothing. Refuses event handlers in attributes.

type Child = Node | string;

/** @param attributes an empty text sets one without a value */
export function newElement<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Readonly<Record<string, string>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

const svg = 'http://www.w3.org/2000/svg';

/** @param path of a drawing in a square of 16 */
export function newIcon(path: string): SVGElement {
  const icon = document.createElementNS(svg, 'svg');
  icon.setAttribute('viewBox', '0 0 16 16');
  icon.setAttribute('aria-hidden', 'true');
  const drawing = document.createElementNS(svg, 'path');
  drawing.setAttribute('d', path);
  icon.append(drawing);
  return icon;
}
