// containerd for one node: its own root, state and socket, pods on a routed point-to-point link each, so that all
// traffic between pods passes the node's address translation. Images are imported from archives, or pulled from a registry
// that its caller names.

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ChildProgram, startProgram } from '../child-program.ts';
import { mustRun, runCommand } from '../command.ts';
import { eventuallyInCluster } from '../eventually.ts';

/** The name under which the sandbox image must be imported. */
export const sandboxImage = 'localhost/pause:1';

export interface ContainerRuntime {
  readonly endpoint: string;
  /** Imports an archive as `docker save` writes it; containers use its name with `imagePullPolicy: Never`. */
  importImage(archive: string): Promise<void>;
  /** Names and digests of its images, as it lists them. */
  listImages(): Promise<string>;
  readonly program: ChildProgram;
}

/**
 * @param enter what goes before a command of the room
 * @param podRange addresses of this node's pods, such as 10.244.1.0/24
 * @param plainRegistries hosts, with their ports, of registries without TLS
 */
export async function startContainerRuntime(
  enter: readonly string[],
  folder: string,
  podRange: string,
  plainRegistries: readonly string[] = [],
): Promise<ContainerRuntime> {
  const socket = join(folder, 'containerd.sock');
  const networks = join(folder, 'cni');
  const config = join(folder, 'containerd.toml');
  await mkdir(networks, { recursive: true });
  await writeFile(join(networks, '10-pods.conflist'), JSON.stringify(podNetwork(podRange)));
  await writeFile(config, configOf(folder, socket, networks));
  for (const host of plainRegistries) {
    const place = join(folder, registries, host);
    await mkdir(place, { recursive: true });
    await writeFile(join(place, 'hosts.toml'), hostsOf(host));
  }
  const [file = '', ...args] = [...enter, 'containerd', '--config', config];
  const program = startProgram(file, { args, logFile: join(folder, 'containerd.log') });
  const control = [...enter, 'ctr', '--address', socket, '--namespace', 'k8s.io'];
  await eventuallyInCluster('containerd answering', async () => {
    if (program.hasExited()) return 'gone';
    return (await runCommand([...control, 'version'])).code === 0 ? 'answering' : undefined;
  });
  if (program.hasExited()) throw new Error(`containerd ended (is it installed?):\n${program.tail()}`);
  return {
    endpoint: `unix://${socket}`,
    importImage: async (archive) => {
      await mustRun([...control, 'images', 'import', archive]);
    },
    listImages: () => mustRun([...control, 'images', 'list']),
    program,
  };
}

/** Below the node's folder: a folder for each registry, as containerd reads them. */
const registries = 'registries';

const hostsOf = (host: string): string => `server = "http://${host}"
[host."http://${host}"]
capabilities = ["pull", "resolve"]
`;

function podNetwork(podRange: string): object {
  const ipam = { type: 'host-local', ranges: [[{ subnet: podRange }]], routes: [{ dst: '0.0.0.0/0' }] };
  return { cniVersion: '1.0.0', name: 'pods', plugins: [{ type: 'ptp', ipam }] };
}

// restrict_oom_score_adj: without CAP_SYS_RESOURCE a sandbox may not lower its score, and runc dies of trying.
function configOf(folder: string, socket: string, networks: string): string {
  return `version = 2
root = ${JSON.stringify(join(folder, 'containerd'))}
state = ${JSON.stringify(join(folder, 'containerd-state'))}
disabled_plugins = ["io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs"]
[grpc]
address = ${JSON.stringify(socket)}
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = ${JSON.stringify(sandboxImage)}
restrict_oom_score_adj = true
netns_mounts_under_state_dir = true
[plugins."io.containerd.grpc.v1.cri".registry]
config_path = ${JSON.stringify(join(folder, registries))}
[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "/usr/lib/cni"
conf_dir = ${JSON.stringify(networks)}
`;
}
