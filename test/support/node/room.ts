// A room of its own on this machine: network, mounts and process ids, held open by one process that dies with the
// runner. Owns tear-down by construction: when the holder is gone, the kernel ends every process inside, and with
// them go the mounts, the network devices and every address. What programs write under /run, /var/lib and /var/log
// lands in the room's folder.

import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startProgram } from '../child-program.ts';
import { serviceRange } from '../control-plane-flags.ts';
import { eventuallyInCluster } from '../eventually.ts';

export interface Room {
  /** Goes before a command that should see the room's network, and this machine's files and processes. */
  readonly enterNetwork: readonly string[];
  /** Goes before a command that should live in the room altogether, and die with it. */
  readonly enterWhole: readonly string[];
  /** Ends every process in the room. Resolves when the last one is gone. */
  close(): Promise<void>;
}

const dieWithParent = ['setpriv', '--pdeathsig', 'KILL', '--'];

/**
 * @param folder exists, empty; the room keeps its /run, /var/lib and /var/log in it
 * @param addresses the machine addresses inside, one a node, each with its prefix length
 */
export async function openRoom(folder: string, addresses: readonly string[]): Promise<Room> {
  for (const name of ['run', 'var-lib', 'var-log']) await mkdir(join(folder, name));
  const unshare = ['unshare', '--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc', '--'];
  const [file = '', ...args] = [
    ...dieWithParent,
    ...unshare,
    'sh',
    '-ceu',
    furnish,
    'room',
    folder,
    ...addresses,
  ];
  let isOpen = false;
  const holder = startProgram(file, {
    args,
    onLine: (line) => {
      isOpen ||= line === 'open';
    },
  });
  try {
    const pid = await eventuallyInCluster('the room open', async () => {
      if (holder.hasExited()) return 0;
      return isOpen ? await onlyChildOf(holder.pid) : undefined;
    });
    if (pid === 0) throw new Error(`the room did not open:\n${holder.tail()}`);
    const enter = ['nsenter', '--target', String(pid), '--net'];
    return {
      enterNetwork: [...enter, '--', ...dieWithParent],
      enterWhole: [...enter, '--mount', '--pid', '--', ...dieWithParent],
      close: () => holder.stop('SIGKILL'),
    };
  } catch (error) {
    await holder.stop('SIGKILL');
    throw error;
  }
}

// Runs as the room's first process. It waits as a shell because somebody must reap the orphans of the runtime.
// Node addresses sit on a bridge, since not every kernel has dummy devices; the route makes service addresses
// reachable from the node itself, where no other route would match before they are translated.
const furnish = `
folder=$1; shift
mount --bind "$folder/run" /run
mount --bind "$folder/var-lib" /var/lib
mount --bind "$folder/var-log" /var/log
ip link set lo up
ip link add node0 type bridge
for address in "$@"; do ip address add "$address" dev node0; done
ip link set node0 up
echo 1 > /proc/sys/net/ipv4/ip_forward
ip route add ${serviceRange} dev node0
echo open
sleep infinity & wait
`;

async function onlyChildOf(pid: number): Promise<number | undefined> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  const child = Number(children.trim());
  return child > 0 ? child : undefined;
}
