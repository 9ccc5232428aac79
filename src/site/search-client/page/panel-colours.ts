// The colours of the panel, from those of the page. Pure: colours come in as red, green and blue. Refuses colours on which text is
// hard to read, whatever the page has. Invariant: text has a contrast of at least 4.5 to 1, the muted text too.

/** Red, green and blue of 0 to 255, and how opaque it is, of 0 to 1. */
export interface PageColour {
  readonly red: number;
  readonly green: number;
  readonly blue: number;
  readonly alpha: number;
}

export interface PanelColours {
  readonly scheme: 'light' | 'dark';
  readonly background: string;
  readonly text: string;
}

const white: PageColour = { red: 255, green: 255, blue: 255, alpha: 1 };
const nearlyBlack: PageColour = { red: 22, green: 24, blue: 29, alpha: 1 };
const lightText: PageColour = { red: 237, green: 239, blue: 243, alpha: 1 };
const darkText: PageColour = { red: 22, green: 24, blue: 29, alpha: 1 };

/** With less, the muted text and the chosen result would be below 4.5 to 1. */
const leastContrast = 10;

/**
 * @param backgrounds of the page, the innermost first; the first opaque one counts
 * @param text of the page
 * @param prefersDark of the reader, for pages that have no background
 */
export function choosePanelColours(
  backgrounds: readonly PageColour[],
  text: PageColour | undefined,
  prefersDark: boolean,
): PanelColours {
  const seen = backgrounds.find(({ alpha }) => alpha >= 0.5);
  // Text tells what lies behind it, where that is a picture.
  const isDark = seen === undefined ? isDarkBehind(text, prefersDark) : luminance(seen) < 0.18;
  const plain = isDark ? nearlyBlack : white;
  const background = seen !== undefined && isReadable(seen, isDark ? lightText : darkText) ? seen : plain;
  const usual = isDark ? lightText : darkText;
  const chosen = text !== undefined && text.alpha === 1 && isReadable(background, text) ? text : usual;
  return { scheme: isDark ? 'dark' : 'light', background: rgb(background), text: rgb(chosen) };
}

function isDarkBehind(text: PageColour | undefined, prefersDark: boolean): boolean {
  if (text === undefined) return prefersDark;
  const bright = luminance(text);
  if (bright > 0.6) return true;
  return bright < 0.2 ? false : prefersDark;
}

const isReadable = (a: PageColour, b: PageColour): boolean => contrastOf(a, b) >= leastContrast;

/** As WCAG defines it. */
export function contrastOf(a: PageColour, b: PageColour): number {
  const [dark = 0, bright = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (bright + 0.05) / (dark + 0.05);
}

function luminance({ red, green, blue }: PageColour): number {
  const linear = (part: number): number => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}

const rgb = ({ red, green, blue }: PageColour): string => `rgb(${red} ${green} ${blue})`;
