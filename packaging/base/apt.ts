// An apt of its own: for one platform, with Debian's sources and a state in a folder, so that nothing of the machine's packages
// changes. It checks Debian's signature.

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runTool, type ToolPlace } from '../release/tool.ts';
import type { Platform } from './base-lock.ts';
import { sourcesText } from './base-offers.ts';

export interface AptPlace {
  /** Existing; the state goes with it. */
  readonly folder: string;
  readonly mirror: string;
  readonly suite: string;
  readonly place: ToolPlace;
}

/** What to do where apt cannot update its lists. @param said what it wrote */
export function aptRemedy(said: string): string {
  if (/is not installed/.test(said)) return 'apt is not installed. Run this on Debian or Ubuntu.';
  if (/NO_PUBKEY|is not signed|debian-archive-keyring/.test(said)) {
    return "apt has no keys of Debian. Install debian-archive-keyring, with Debian's current release.";
  }
  return 'apt cannot read the mirror of Debian. Name another, the folder that has pool: --debian-mirror URL.';
}

/** @returns the command that other arguments follow; its lists are up to date */
export async function aptFor(
  platform: Platform,
  { folder, mirror, suite, place }: AptPlace,
): Promise<readonly string[]> {
  const architecture = platform.replace('linux/', '');
  const state = join(folder, `apt-${architecture}`);
  for (const each of ['lists/partial', 'archives/partial'])
    await mkdir(join(state, each), { recursive: true });
  const sources = join(state, 'debian.sources');
  await writeFile(sources, sourcesText(mirror, suite));
  const settings = {
    'APT::Architecture': architecture,
    'APT::Architectures': architecture,
    'APT::Sandbox::User': 'root',
    'Dir::Etc::SourceList': sources,
    'Dir::Etc::SourceParts': '/dev/null',
    'Dir::State': state,
    'Dir::State::Lists': join(state, 'lists/'),
    'Dir::State::Status': '/dev/null',
    'Dir::Cache': state,
  };
  const apt = ['apt-get', '-qq', ...Object.entries(settings).map(([name, value]) => `-o${name}=${value}`)];
  // Without this mode, lists that could not be fetched are only a warning.
  await runTool([...apt, '-oAPT::Update::Error-Mode=any', 'update'], place).catch((cause: unknown) => {
    throw new Error(aptRemedy(cause instanceof Error ? cause.message : ''), { cause });
  });
  return apt;
}
