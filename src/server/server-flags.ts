// The command line of `bundle-server`: its flags, what they default to, and which of them go together.
// Invariant: a link given here becomes a Link at once, so that no value of a flag holds its text.

import { type BundleLimits, defaultLimits } from '#bundle/limits.ts';
import {
  bytes,
  countUpTo,
  duration,
  FlagValueError,
  hostPort,
  kind,
  listOf,
  oneOf,
  path,
  positiveBytes,
  positiveCount,
  positiveDuration,
  sizeText,
  text,
  toggle,
} from '#platform/runtime/flags/flag-kinds.ts';
import type { FlagValues, ProgramDescription } from '#platform/runtime/flags/flags.ts';
import { Link } from '#platform/wire/link.ts';
import { composedForm } from '#platform/wire/unicode-form.ts';
import { deploymentTypes } from './answer/reply.ts';
import { type ContentEncoding, contentEncodings } from './http/content-encoding.ts';
import { readBasePath } from './http/request-path.ts';
import { addedHeaders } from './http/response-headers.ts';
import { defaultCallsPerMinute } from './mcp/call-rate.ts';
import { readOwnHost } from './mcp/own-hosts.ts';
import { readPeerName } from './peers/peer-addresses.ts';

/** A link is parsed at once, so that no text of it is kept. */
const link = kind('URL', (text) => {
  const parsed = Link.parse(text);
  if (parsed === undefined) throw new FlagValueError('must be an absolute https:, http: or file: URL');
  return parsed;
});

const contentDigest = kind('SHA-256', (text) => {
  if (!/^[0-9a-f]{64}$/.test(text)) throw new FlagValueError('must be 64 hex digits in lower case');
  return text;
});

const basePath = kind('PATH', (text) => {
  const read = readBasePath(text);
  if (read === undefined) throw new FlagValueError('must be a plain path such as /docs');
  return read;
});

const encodings = kind<readonly ContentEncoding[]>('br,gzip|none', (text) => {
  const names = text.split(',').map((name) => name.trim());
  if (names.join() === 'none') return [];
  const wanted = contentEncodings.filter((encoding) => names.includes(encoding));
  if (wanted.length !== names.length) throw new FlagValueError('must be br, gzip, both, or none');
  return wanted;
});

const hiddenName = (text: string): string => {
  const name = composedForm(text.trim());
  if (name === '' || name === '.' || name === '..' || name.includes('/')) {
    throw new FlagValueError('must be names of folders or files without a slash, such as .net');
  }
  return name;
};

export const bundleServerFlags = {
  bundleFile: path.optional('Mounted bundle.json that names the bundle to serve; read at every poll'),
  bundleUrl: link.optional(
    'Link to the archive (https, http or file), instead of --bundle-file; better set by variable',
  ),
  bundleRef: text.optional(
    'Copy of the bundle in a mirror (oci://HOST/REPOSITORY@sha256:… or s3://BUCKET/…), instead of --bundle-file',
  ),
  digest: contentDigest.optional('SHA-256 of the content at --bundle-ref; nothing else is served'),
  mirrorCredentials: path.optional(
    'Folder of a mounted Secret with credentials of the mirror; read for every copy. Without it, the identity of the pod',
  ),
  mirrorEndpoint: text.optional(
    'Address of the S3 service, if it is not AWS, for example https://s3.example.com',
  ),
  mirrorRegion: text.withDefault('us-east-1', 'Region of the bucket'),
  mirrorPathStyle: toggle('Write the bucket into the path of S3 addresses instead of the host name'),
  allowPrivateMirror: toggle('Allow a mirror at a loopback, private or cluster address'),
  allowHttpMirror: toggle('Allow a mirror without TLS'),
  peers: listOf(
    'NAME[:PORT],…',
    ',',
    readPeerName,
    'Other servers of this site, to share bundles with: a headless Service, or addresses of admin ports',
  ),
  version: text.optional(
    'Version of the content at --bundle-url or --bundle-ref; without a value prints this program’s own',
  ),
  store: path.required('Folder for verified bundles; a start looks there before it asks another source'),
  keep: positiveCount.withDefault('2', 'Versions kept on disk, including the active one'),
  listen: hostPort.withDefault('0.0.0.0:8080', 'Address of the site'),
  adminListen: hostPort.withDefault('0.0.0.0:9090', 'Address of health, metrics and status'),
  readiness: oneOf(['bundle', 'always']).withDefault(
    'bundle',
    'When /readyz returns 200: once a verified bundle is served, or always (for a sidecar)',
  ),
  basePath: basePath.optional(
    'Path under which the site is reached, for example /docs (default: the one that bundle.json names, else /)',
  ),
  deploymentType: oneOf(deploymentTypes).withDefault(
    'Cloud',
    'Where the site runs; AirGapped forbids pages to load from other hosts',
  ),
  header: addedHeaders,
  serveDotfiles: listOf(
    'NAME,…',
    ',',
    hiddenName,
    'Names of files and folders that are served although they are hidden, such as .net or install.cmd',
  ),
  allowPrivateLinks: toggle('Allow links to loopback, private and cluster addresses'),
  allowFileLinks: toggle('Allow a file: link in --bundle-file; --bundle-url always allows it'),
  extraCaFile: path.optional(
    'PEM file of CA certificates to trust in addition to the system’s; read for every archive',
  ),
  maxArchiveSize: positiveBytes.withDefault(
    sizeText(defaultLimits.maxArchiveBytes),
    'Largest archive as downloaded; the chart sets server.maxBundleSize, 1GiB',
  ),
  maxBundleSize: positiveBytes.withDefault(
    sizeText(defaultLimits.maxTotalBytes),
    'Largest archive when unpacked; the chart sets server.maxBundleSize, 1GiB',
  ),
  maxFileSize: positiveBytes.withDefault(sizeText(defaultLimits.maxFileBytes), 'Largest single file'),
  maxFiles: positiveCount.withDefault(`${defaultLimits.maxFiles}`, 'Maximum number of entries in an archive'),
  downloadTimeout: positiveDuration.withDefault(
    `${defaultLimits.downloadTimeoutMs / 60_000}m`,
    'Maximum duration of a download',
  ),
  idleTimeout: positiveDuration.withDefault(
    `${defaultLimits.idleTimeoutMs / 1000}s`,
    'Maximum time without data in a download',
  ),
  encodings: encodings.withDefault('br,gzip', 'Content encodings to precompress text files with, or none'),
  encodingCpu: countUpTo(100, 'PERCENT').withDefault(
    '50',
    'Percent of one core that each thread may take for what it makes of a version',
  ),
  memoryBudget: bytes.optional(
    'Memory for bodies of frequently requested files (default: a quarter of the memory limit, 32MiB to 256MiB)',
  ),
  search: toggle(
    'Add a search to the site, made from its pages by a thread. The bundle and its digest stay as they are',
  ),
  markdown: toggle(
    'Send agents the pages as Markdown, made by a thread, and add llms.txt. The bundle and its digest stay as they are',
  ),
  mcp: toggle(
    'Let agents search and read the site by the Model Context Protocol, at /mcp below the base path',
  ),
  mcpHosts: listOf(
    'NAME,…',
    ',',
    readOwnHost,
    'Names under which agents reach the site: docs.example.com, *.example.com, http://docs.docs.svc. Without them only localhost',
  ),
  mcpTokenFile: path.optional(
    'File with the token that agents must send as a bearer, one a line; read again while the server runs',
  ),
  mcpRate: positiveCount.optional(
    `Calls of agents in a minute; a sixth of them at once (default: ${defaultCallsPerMinute})`,
  ),
  accessLog: toggle('Log every request of the site port, without its query'),
  fastPath: oneOf(['true', 'false']).withDefault(
    'true',
    'Answer plain GET and HEAD requests without Node’s HTTP parser; false sends all requests through it',
  ),
  insights: oneOf(['true', 'false']).withDefault(
    'true',
    'Count addresses that readers do not find and searches without a result, for /status and metrics',
  ),
  pollInterval: positiveDuration.withDefault(
    '5s',
    'Time between two checks of --bundle-file, or of a file: --bundle-url without --version',
  ),
  startupTimeout: duration.withDefault(
    '30s',
    'Longest wait for the download at start. After it, the last good version is served meanwhile',
  ),
  keepAliveTimeout: positiveDuration.withDefault(
    '65m',
    'How long an idle connection stays; longer than a balancer in front keeps it. With more than 4096 connections at most 75s',
  ),
  drainLinger: duration.withDefault('5s', 'After SIGTERM, how long to keep accepting connections'),
  drainGrace: duration.withDefault('30s', 'After --drain-linger, how long running requests may take'),
};

export type BundleServerFlags = FlagValues<typeof bundleServerFlags>;

/** The limits of an archive, whichever source it comes from. */
export function serverLimitsOf(flags: BundleServerFlags): BundleLimits {
  return {
    ...defaultLimits,
    maxArchiveBytes: flags.maxArchiveSize,
    maxTotalBytes: flags.maxBundleSize,
    maxFileBytes: flags.maxFileSize,
    maxFiles: flags.maxFiles,
    downloadTimeoutMs: flags.downloadTimeout,
    idleTimeoutMs: flags.idleTimeout,
  };
}

export const bundleServer: ProgramDescription<typeof bundleServerFlags> = {
  name: 'bundle-server',
  summary: 'serves one exported documentation site, and swaps versions without dropping a request',
  flags: bundleServerFlags,
  examples: [
    'bundle-server --bundle-file /etc/site/bundle.json --store /var/lib/site',
    'bundle-server --bundle-ref oci://registry.example.com/docs@sha256:… \\\n    --digest … --store /var/lib/site',
    'BUNDLE_SERVER_BUNDLE_URL=file:///srv/export.tar.gz \\\n    bundle-server --version v7 --store /var/lib/site',
  ],
  check: (flags) => {
    const { bundleFile, bundleUrl, bundleRef, digest, version, listen, adminListen } = flags;
    const named = [bundleFile, bundleUrl, bundleRef].filter((value) => value !== undefined).length;
    if (named === 0) {
      return 'nothing to serve: set --bundle-file (a mounted bundle.json), --bundle-url (a link) or --bundle-ref (a copy in a mirror)';
    }
    if (named > 1) return '--bundle-file, --bundle-url and --bundle-ref exclude each other: set one of them';
    if (bundleFile !== undefined && version !== undefined) {
      return '--version goes with --bundle-url or --bundle-ref; with --bundle-file, bundle.json names the version';
    }
    if ((bundleRef === undefined) !== (digest === undefined)) {
      return '--bundle-ref and --digest go together: set both';
    }
    if (listen.port !== 0 && listen.port === adminListen.port && listen.host === adminListen.host) {
      return '--listen and --admin-listen are the same address: set different ones';
    }
    return flags.mcp ? undefined : unusedAgentFlag(flags);
  },
};

/** An operator who sets a token expects that agents are answered, and only with it. */
function unusedAgentFlag({ mcpHosts, mcpTokenFile, mcpRate }: BundleServerFlags): string | undefined {
  const given = [
    ...(mcpTokenFile === undefined ? [] : ['--mcp-token-file']),
    ...(mcpHosts.length === 0 ? [] : ['--mcp-hosts']),
    ...(mcpRate === undefined ? [] : ['--mcp-rate']),
  ];
  const [one] = given;
  return one === undefined ? undefined : `${one} changes nothing without --mcp: add --mcp, or remove ${one}`;
}
