// Reads what the kernel holds in sockets: the sum that this container's memory limit counts, and the bytes of each
// connection of one port. Node shows neither. Refuses to judge; a figure that this system does not give is 0 or empty.

import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { SocketAddress } from 'node:net';
import { join } from 'node:path';

const mountPoint = '/sys/fs/cgroup';

/** Where a count of the bytes in sockets may be read, and how. */
interface CountFile {
  readonly file: string;
  readonly read: (text: string) => number | undefined;
}

/** @param text of `/proc/self/cgroup`. @returns the files to try, best first */
export function socketMemoryFiles(text: string): readonly CountFile[] {
  const paths = new Map(
    text.split('\n').flatMap((line) => {
      const [, controllers = '', path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
      return path === undefined ? [] : controllers.split(',').map((one): [string, string] => [one, path]);
    }),
  );
  const legacy = paths.get('memory');
  if (legacy !== undefined) {
    // A container sees its own group at the root of the mount, whatever path the kernel names.
    return [legacy, '/'].map((path) => ({
      file: join(mountPoint, 'memory', path, 'memory.kmem.tcp.usage_in_bytes'),
      read: readNumber,
    }));
  }
  const unified = paths.get('');
  return unified === undefined
    ? []
    : [{ file: join(mountPoint, unified, 'memory.stat'), read: readSocketLine }];
}

function readNumber(text: string): number | undefined {
  return /^\d+\s*$/.test(text) ? Number(text) : undefined;
}

function readSocketLine(text: string): number | undefined {
  const [, bytes] = /^sock (\d+)$/m.exec(text) ?? [];
  return bytes === undefined ? undefined : Number(bytes);
}

/** Bytes in sockets that count towards the memory limit of this process; 0 where the system gives no figure. */
export function createSocketMemory(): () => Promise<number> {
  let files: readonly CountFile[] | undefined;
  return async () => {
    files ??= socketMemoryFiles(await readFile('/proc/self/cgroup', 'latin1').catch(() => ''));
    for (const { file, read } of files) {
      const bytes = read(await readFile(file, 'latin1').catch(() => ''));
      if (bytes !== undefined) return bytes;
    }
    return 0;
  };
}

/** By `address port` of the other side, as Node writes the address: bytes that neither side has read. */
export type SocketQueues = ReadonlyMap<string, number>;

/** Reads in pieces, to delay no other work: the lists include closed connections, maybe tens of thousands. */
export async function readSocketQueues(port: number): Promise<SocketQueues> {
  const queues = new Map<string, number>();
  for (const file of ['/proc/net/tcp', '/proc/net/tcp6']) {
    let rest = '';
    try {
      for await (const piece of createReadStream(file, 'latin1')) {
        const text = `${rest}${piece}`;
        const end = text.lastIndexOf('\n') + 1;
        rest = text.slice(end);
        addQueues(queues, text.slice(0, end), port);
      }
    } catch {
      // Not there: another system, or one without this family.
    }
  }
  return queues;
}

/** @param text of `/proc/net/tcp` or `tcp6` */
export function addQueues(queues: Map<string, number>, text: string, port: number): void {
  const wanted = `:${port.toString(16).toUpperCase().padStart(4, '0')} `;
  for (const line of text.split('\n')) {
    const at = line.indexOf(wanted);
    // The first of the two addresses of a line is the local one.
    if (at < 0 || at > 46) continue;
    const [, address = '', remotePort = '', sending = '', waiting = ''] =
      /^ ([0-9A-F]+):([0-9A-F]{4}) \w\w ([0-9A-F]{8}):([0-9A-F]{8})/.exec(line.slice(at + 5)) ?? [];
    const bytes = Number.parseInt(sending, 16) + Number.parseInt(waiting, 16);
    if (bytes > 0) queues.set(`${addressOf(address)} ${Number.parseInt(remotePort, 16)}`, bytes);
  }
}

/** Words of 32 bits in the machine's order, which is little-endian wherever Node runs in a container. */
function addressOf(hex: string): string {
  const bytes = Buffer.from(hex, 'hex').swap32();
  if (bytes.length === 4) return bytes.join('.');
  const groups = bytes.toString('hex').match(/.{4}/g) ?? [];
  return new SocketAddress({ family: 'ipv6', address: groups.join(':') }).address;
}
