// Which pages have a term, and how often, as short text. Imports nothing. A number is written in digits of five bits, the lowest first, each
// but the last with a mark; pages are written as distances. Never throws: characters that are not digits end a list.

const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const notDigit = 255;
/** By the code of a character. */
const values = Uint8Array.from({ length: 128 }, (_, code) => {
  const value = digits.indexOf(String.fromCharCode(code));
  return value < 0 ? notDigit : value;
});
const continues = 32;
/** No list holds a number above 2^30. */
const maxDigits = 6;

/** Frequencies are kept as one of these. */
const frequencies = [1, 2, 4, 8] as const;

export interface Posting {
  readonly page: number;
  readonly frequency: number;
}

/** @param numbers none negative */
export function encodeNumbers(numbers: Iterable<number>): string {
  let text = '';
  for (const number of numbers) {
    let rest = number;
    while (rest >= continues) {
      text += digits[(rest % continues) + continues];
      rest = Math.floor(rest / continues);
    }
    text += digits[rest];
  }
  return text;
}

export function decodeNumbers(text: string): readonly number[] {
  const numbers: number[] = [];
  let number = 0;
  let count = 0;
  for (let at = 0; at < text.length; at += 1) {
    const value = values[text.charCodeAt(at)] ?? notDigit;
    if (value === notDigit || count >= maxDigits) break;
    number += (value % continues) * continues ** count;
    count += 1;
    if (value >= continues) continue;
    numbers.push(number);
    number = 0;
    count = 0;
  }
  return numbers;
}

/** @param pages in order, each once */
export function encodePages(pages: readonly number[]): string {
  return encodeNumbers(pages.map((page, at) => page - (pages[at - 1] ?? 0)));
}

export function decodePages(text: string): readonly Posting[] {
  let page = 0;
  return decodeNumbers(text).map((distance) => {
    page += distance;
    return { page, frequency: 1 };
  });
}

/** Which frequency stands for a number: 0 to 3. */
export function frequencyClass(count: number): number {
  return count < 2 ? 0 : count < 4 ? 1 : count < 8 ? 2 : 3;
}

/** @param packed page × 4 + class of its frequency, in order of pages */
export function encodeFrequencies(packed: readonly number[]): string {
  let before = 0;
  return encodeNumbers(
    packed.map((one) => {
      const page = Math.floor(one / 4);
      const distance = page - before;
      before = page;
      return distance * 4 + (one % 4);
    }),
  );
}

export function decodeFrequencies(text: string): readonly Posting[] {
  let page = 0;
  return decodeNumbers(text).map((one) => {
    page += Math.floor(one / 4);
    return { page, frequency: frequencies[one % 4] ?? 1 };
  });
}
