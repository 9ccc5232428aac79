// What a release says at its end: the files that it made with their sizes, and what it left out with the reason. Pure.

export interface MadeFile {
  readonly name: string;
  readonly bytes: number;
}

export interface LeftOut {
  readonly name: string;
  /** A sentence that ends with what to do. */
  readonly why: string;
}

export function releaseTable(made: readonly MadeFile[], leftOut: readonly LeftOut[]): string {
  const sizes = made.map(({ bytes }) => readableSize(bytes));
  const width = Math.max(...[...made, ...leftOut].map(({ name }) => name.length));
  const sizeWidth = Math.max(0, ...sizes.map((size) => size.length));
  const rows = made.map(
    ({ name }, at) => `  ${name.padEnd(width)}  ${(sizes[at] ?? '').padStart(sizeWidth)}\n`,
  );
  const missing = leftOut.map(({ name, why }) => `  ${name.padEnd(width)}  ${why}\n`);
  return [...rows, ...(missing.length === 0 ? [] : ['left out:\n', ...missing])].join('');
}

export function readableSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1024 ** 2 ? `${Math.ceil(bytes / 1024)} KiB` : `${(bytes / 1024 ** 2).toFixed(1)} MiB`;
}
