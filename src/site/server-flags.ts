// The command line of `bundle-server`: its flags, what they default to, and which of them go together.
// Invariant: a link given here becomes a Link at once, so that no value of a flag holds its text.

import { defaultLimits } from '../bundle/limits.ts';
import {
  bytes,
  count,
  duration,
  type Flag,
  FlagValueError,
  hostPort,
  list,
  oneOf,
  path,
  positiveBytes,
  positiveCount,
  positiveDuration,
  sizeText,
  text,
  toggle,
} from '../runtime/flags/flag-kinds.ts';
import type { FlagValues, ProgramDescription } from '../runtime/flags/flags.ts';
import { Link } from '../wire/link.ts';
import { deploymentTypes } from './answer/reply.ts';
import { type ContentCoding, contentCodings } from './http/content-coding.ts';
import { readBasePath } from './http/request-path.ts';
import { addedHeaders } from './http/response-headers.ts';
import { type PeerName, readPeerName } from './peers/peer-addresses.ts';

/** A link is parsed at once, so that no text of it is kept; `undefined` when not given. */
const link: Flag<Link | undefined> = {
  ...text.optional(
    'Link to the archive (https, http or file), instead of a document; best given by variable',
  ),
  placeholder: 'URL',
  parse: (texts) => {
    const parsed = Link.parse(texts.at(-1));
    if (parsed === undefined) throw new FlagValueError('must be an absolute https:, http: or file: URL');
    return parsed;
  },
};

const basePath: Flag<string> = {
  ...text.withDefault('/', 'Path under which the site is reached, for example /docs'),
  placeholder: 'PATH',
  parse: (texts) => {
    const read = readBasePath(texts.at(-1) ?? '/');
    if (read === undefined) throw new FlagValueError('must be a plain path such as /docs');
    return read;
  },
};

const encodings: Flag<readonly ContentCoding[]> = {
  ...text.withDefault('br,gzip', 'Codings that text is kept in beside the files themselves, or none'),
  placeholder: 'br,gzip|none',
  parse: (texts) => {
    const names = (texts.at(-1) ?? '').split(',').map((name) => name.trim());
    if (names.join() === 'none') return [];
    const wanted = contentCodings.filter((coding) => names.includes(coding));
    if (wanted.length !== names.length) throw new FlagValueError('must be br, gzip, both, or none');
    return wanted;
  },
};

const encodingCpu: Flag<number> = {
  ...count.withDefault('50', 'Percent of one core that making them may take'),
  placeholder: 'PERCENT',
  parse: (texts) => {
    const percent = count.withDefault('50', '').parse(texts);
    if (percent < 1 || percent > 100) throw new FlagValueError('must be 1 to 100');
    return percent;
  },
};

const peerList = list(
  'NAME[:PORT],…',
  'Other servers of this site, to share bundles with: a headless Service, or addresses of admin ports',
);
const peers: Flag<readonly PeerName[]> = {
  ...peerList,
  parse: (texts) => peerList.parse(texts).map(readPeerName),
};

export const bundleServerFlags = {
  bundleFile: path.optional('Mounted bundle.json that says what to serve; looked at again at every poll'),
  bundleUrl: link,
  peers,
  version: text.optional('Version that --bundle-url leads to; without a value prints this program’s own'),
  store: path.required('Folder for verified bundles; the site starts from it when nothing else answers'),
  keep: positiveCount.withDefault('2', 'Versions kept on disk, the active one included'),
  listen: hostPort.withDefault('0.0.0.0:8080', 'Address of the site'),
  adminListen: hostPort.withDefault('0.0.0.0:9090', 'Address of health, metrics and status'),
  readiness: oneOf(['bundle', 'always']).withDefault(
    'bundle',
    'When /readyz says yes: once a verified bundle is served, or always (for a sidecar)',
  ),
  basePath,
  deploymentType: oneOf(deploymentTypes).withDefault(
    'Cloud',
    'Where the site stands; AirGapped forbids pages to reach anything else',
  ),
  header: addedHeaders,
  allowPrivateLinks: toggle('Let links lead to loopback, private and cluster addresses'),
  allowFileLinks: toggle('Let the link in --bundle-file lead to a file; that of --bundle-url always may'),
  extraCaFile: path.optional(
    'PEM file of authorities to trust beside the system’s; read again for every archive',
  ),
  maxArchiveSize: positiveBytes.withDefault(
    sizeText(defaultLimits.maxArchiveBytes),
    'Largest archive, as sent; the chart sets server.maxBundleSize, 1GiB',
  ),
  maxBundleSize: positiveBytes.withDefault(
    sizeText(defaultLimits.maxTotalBytes),
    'Largest archive, unpacked; the chart sets server.maxBundleSize, 1GiB',
  ),
  maxFileSize: positiveBytes.withDefault(sizeText(defaultLimits.maxFileBytes), 'Largest single file'),
  maxFiles: positiveCount.withDefault(`${defaultLimits.maxFiles}`, 'Most entries of an archive'),
  downloadTimeout: positiveDuration.withDefault(
    `${defaultLimits.downloadTimeoutMs / 60_000}m`,
    'Longest download',
  ),
  idleTimeout: positiveDuration.withDefault(
    `${defaultLimits.idleTimeoutMs / 1000}s`,
    'Longest silence of a download',
  ),
  encodings,
  encodingCpu,
  memoryBudget: bytes.withDefault('32MiB', 'Memory for bodies of files that are asked for often'),
  accessLog: toggle('Log every request of the site port, without its query'),
  pollInterval: positiveDuration.withDefault(
    '5s',
    'How often --bundle-file is looked at, or the file of a link without a version',
  ),
  patience: duration.withDefault(
    '30s',
    'At start, how long a download may take before the last good version is served meanwhile',
  ),
  drainLinger: duration.withDefault('5s', 'After SIGTERM, how long to go on accepting connections'),
  drainGrace: duration.withDefault('30s', 'After that, how long requests under way may take'),
};

export type BundleServerFlags = FlagValues<typeof bundleServerFlags>;

export const bundleServer: ProgramDescription<typeof bundleServerFlags> = {
  name: 'bundle-server',
  summary: 'serves one exported documentation site, and swaps versions without dropping a request',
  flags: bundleServerFlags,
  examples: [
    'bundle-server --bundle-file /etc/site/bundle.json --store /var/lib/site',
    'BUNDLE_SERVER_BUNDLE_URL=file:///srv/export.tar.gz bundle-server --version v7 --store /var/lib/site',
  ],
  check: ({ bundleFile, bundleUrl, version, listen, adminListen }) => {
    if (bundleFile === undefined && bundleUrl === undefined) {
      return 'nothing to serve: give --bundle-file (a mounted bundle.json) or --bundle-url (a plain link)';
    }
    if (bundleFile !== undefined && bundleUrl !== undefined) {
      return '--bundle-file and --bundle-url exclude each other: give the one that says what to serve';
    }
    if (bundleFile !== undefined && version !== undefined) {
      return '--version goes with --bundle-url; with --bundle-file the document names the version';
    }
    if (listen.port !== 0 && listen.port === adminListen.port && listen.host === adminListen.host) {
      return '--listen and --admin-listen are the same address: give each one of its own';
    }
    return undefined;
  },
};
