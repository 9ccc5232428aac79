// The file system of the git client: files in memory, by path, and nothing on disk. Refuses links and more bytes than its
// bound. Invariant: a file's bytes are kept as they were given, without a copy, because a pack is most of the memory.

interface Stats {
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
  readonly size: number;
  readonly mode: number;
  readonly mtimeMs: number;
}

type Content = Uint8Array | string;

/** The part of `fs.promises` that the client calls. */
export interface MemoryFiles {
  readonly promises: {
    readFile(path: string, options?: unknown): Promise<Content>;
    writeFile(path: string, content: Content): Promise<void>;
    mkdir(path: string): Promise<void>;
    rmdir(path: string): Promise<void>;
    unlink(path: string): Promise<void>;
    stat(path: string): Promise<Stats>;
    lstat(path: string): Promise<Stats>;
    readdir(path: string): Promise<string[]>;
    readlink(path: string): Promise<string>;
    symlink(target: string, path: string): Promise<void>;
  };
}

export interface MemoryFilesOptions {
  /** Of all files together. @throws what `refuse` returns */
  readonly maxBytes: number;
  readonly refuse: () => Error;
  /** Sees each file before it is kept, and may throw. */
  readonly check: (path: string, content: Uint8Array) => void;
  /** Files that were not written, and are made when they are read. */
  readonly made: MadeFiles;
}

export interface MadeFiles {
  has(path: string): boolean;
  /** @returns `undefined` where there is none */
  read(path: string): Uint8Array | undefined;
}

const folder = Symbol('folder');

/** Looks like Node's own error to the client, which asks for its code. */
function fault(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${path}`), { code });
}

export function createMemoryFiles({ maxBytes, refuse, check, made }: MemoryFilesOptions): MemoryFiles {
  const entries = new Map<string, Uint8Array | typeof folder>([['/', folder]]);
  let bytes = 0;
  const clean = (path: string): string => {
    const parts = path.split('/').filter((part) => part !== '' && part !== '.');
    return `/${parts.join('/')}`;
  };
  const parentOf = (path: string): string => path.slice(0, Math.max(1, path.lastIndexOf('/')));
  const find = (path: string): Uint8Array | typeof folder => {
    const entry = entries.get(clean(path));
    if (entry === undefined) throw fault('ENOENT', path);
    return entry;
  };
  const findFile = (path: string): Uint8Array => {
    const entry = find(path);
    if (entry === folder) throw fault('EISDIR', path);
    return entry;
  };
  const namesIn = (path: string): readonly string[] => {
    if (find(path) !== folder) throw fault('ENOTDIR', path);
    const prefix = clean(path) === '/' ? '/' : `${clean(path)}/`;
    return [...entries.keys()].filter(
      (one) => one.startsWith(prefix) && one !== '/' && !one.slice(prefix.length).includes('/'),
    );
  };
  const place = (path: string): string => {
    const at = clean(path);
    if (entries.get(parentOf(at)) !== folder) throw fault('ENOENT', path);
    return at;
  };
  const stat = async (path: string): Promise<Stats> => {
    const entry = made.has(clean(path)) ? new Uint8Array() : find(path);
    const isFolder = entry === folder;
    return {
      isFile: () => !isFolder,
      isDirectory: () => isFolder,
      isSymbolicLink: () => false,
      size: isFolder ? 0 : entry.byteLength,
      mode: isFolder ? 0o040000 : 0o100644,
      mtimeMs: 0,
    };
  };
  const refuseLink = async (): Promise<never> => {
    throw fault('EPERM', 'links');
  };
  return {
    promises: {
      readFile: async (path, options) => {
        const content = entries.has(clean(path))
          ? findFile(path)
          : (made.read(clean(path)) ?? findFile(path));
        return isTextWanted(options) ? Buffer.from(content).toString('utf8') : content;
      },
      writeFile: async (path, content) => {
        const at = place(path);
        const held = entries.get(at);
        if (held === folder) throw fault('EISDIR', path);
        const kept = typeof content === 'string' ? Buffer.from(content) : content;
        bytes += kept.byteLength - (held?.byteLength ?? 0);
        if (bytes > maxBytes) throw refuse();
        check(at, kept);
        entries.set(at, kept);
      },
      mkdir: async (path) => {
        const at = place(path);
        if (entries.has(at)) throw fault('EEXIST', path);
        entries.set(at, folder);
      },
      rmdir: async (path) => {
        if (namesIn(path).length > 0) throw fault('ENOTEMPTY', path);
        entries.delete(clean(path));
      },
      unlink: async (path) => {
        bytes -= findFile(path).byteLength;
        entries.delete(clean(path));
      },
      stat,
      lstat: stat,
      readdir: async (path) => namesIn(path).map((one) => one.slice(one.lastIndexOf('/') + 1)),
      readlink: refuseLink,
      symlink: refuseLink,
    },
  };
}

function isTextWanted(options: unknown): boolean {
  if (typeof options === 'string') return true;
  return (
    typeof options === 'object' &&
    options !== null &&
    'encoding' in options &&
    typeof options.encoding === 'string' &&
    options.encoding !== 'buffer'
  );
}
