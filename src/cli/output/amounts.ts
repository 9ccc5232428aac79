// Amounts in sentences: a count with its noun, a size with its unit. Pure. Refuses: "1 pages", and sizes of more than four
// digits.

/** @param noun in its singular, whose plural ends in `s` */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

export function sizeWords(bytes: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB'];
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  return power === 0 ? counted(bytes, 'byte') : `${(bytes / 1024 ** power).toFixed(1)} ${units[power]}`;
}
