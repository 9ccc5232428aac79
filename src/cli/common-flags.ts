// Flags that several commands share, with one text and one default each. Those of archives and mirrors are named as the
// servers name theirs. Refuses: flags of one command, which stand with it, and loading more than their kinds.

import { defaultLimits } from '#bundle/limits.ts';
import { type RuleChoice, readRuleChoice, ruleList } from '#bundle/repair/rule-modes.ts';
import {
  FlagValueError,
  kind,
  listOf,
  path,
  positiveBytes,
  sizeText,
  text,
  toggle,
} from '#platform/runtime/flags/flag-kinds.ts';

export const sizeFlags = {
  maxArchiveSize: positiveBytes.withDefault(
    sizeText(defaultLimits.maxArchiveBytes),
    'Largest archive to read',
  ),
  maxBundleSize: positiveBytes.withDefault(
    sizeText(defaultLimits.maxTotalBytes),
    'Largest archive after decompression',
  ),
};

export const contentDigest = kind('SHA256', (value) => {
  // Registries and checksum files write the algorithm before the digits.
  const digits = value.replace(/^sha256:/, '');
  if (!/^[0-9a-f]{64}$/.test(digits)) throw new FlagValueError('must be 64 lower-case hexadecimal digits');
  return digits;
});

/** Without `.`, `..` and empty parts. A test holds that the server accepts it. */
const plainPath = /^\/*(?:(?!\.{1,2}(?:\/|$))[^\s/?#\\%]+(?:\/(?!\/)|$))*\/*$/;

/** Read as the server reads it: `docs` and `/docs/` are `/docs`. Refused before the archive is read, which may take minutes. */
export const basePath = kind('PATH', (value) => {
  if (plainPath.test(value)) return `/${value.replace(/^\/+|\/+$/g, '')}`;
  throw new FlagValueError('must be a plain path such as /docs');
});

/** Without scheme and path; a port may follow. */
export const siteHost = kind('HOST', (value) => {
  if (/^(?!-)[A-Za-z0-9.-]{1,253}(?::\d{1,5})?$/.test(value) && URL.canParse(`https://${value}`))
    return value;
  throw new FlagValueError('must be a host such as docs.example.com');
});

const ruleChoice = (text: string): RuleChoice => {
  const choice = readRuleChoice(text);
  if (typeof choice === 'string') throw new FlagValueError(choice);
  return choice;
};

/** Of a repair. */
export const ruleFlag = listOf(
  'NAME[=MODE]',
  ',',
  ruleChoice,
  `Mode of a rule; a later one wins, and all=off comes first: ${ruleList}`,
);

export const keyFlags = {
  keyFile: path.optional('File that holds the admin API key. Without it: $STATIC_EXPORT_API_KEY'),
  keyStdin: toggle('Read the admin API key from standard input'),
};

export const linkFlags = {
  allowPrivateLinks: toggle('Allow links to loopback, private and cluster addresses'),
  extraCaFile: path.optional('PEM file of CA certificates to trust in addition to the system’s'),
};

/**
 * How a mirror is reached; its address each command has in its own way.
 *
 * @param mirror what the credentials are for: `--to`
 */
export const credentialFlags = (mirror: string) => ({
  mirrorCredentials: path.optional(
    `Folder with credentials for ${mirror}, as a mounted Secret: .dockerconfigjson (or config.json), username and password, or accessKeyId and secretAccessKey`,
  ),
  mirrorEndpoint: text.optional(
    'Address of the S3 service, if it is not AWS, for example https://s3.example.com',
  ),
  mirrorRegion: text.withDefault('us-east-1', 'Region of the bucket'),
  mirrorPathStyle: toggle('Write the bucket into the path of S3 addresses instead of the host name'),
  allowHttpMirror: toggle('Allow a mirror without TLS'),
  extraCaFile: path.optional('PEM file of CA certificates to trust in addition to the system’s'),
});
