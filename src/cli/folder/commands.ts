// The command that reconciles over a folder: words, flags and texts. Refuses: importing its work, because `--help` of any
// command would load it.

import { startsPerHour } from '#operator/starts-flag.ts';
import {
  FlagValueError,
  httpUrl,
  list,
  listOf,
  path,
  positiveDuration,
  toggle,
} from '#platform/runtime/flags/flag-kinds.ts';
import { readOriginEntry } from '#platform/wire/http-origin.ts';
import { archiveEndings, isArchiveName } from '../bundle/archive-names.ts';
import { type Command, defineCommand } from '../command.ts';
import { linkFlags, sizeFlags } from '../common-flags.ts';

function readPublishPath(item: string): string {
  const [, type, target = ''] = /^(dir|archive)=(.+)$/.exec(item) ?? [];
  if (type === undefined) throw new FlagValueError('must be dir=PATH or archive=PATH');
  if (isArchiveName(target) !== (type === 'archive')) {
    throw new FlagValueError(`must be archive=PATH for ${archiveEndings}, and dir=PATH for others`);
  }
  return target;
}

function readSecretFile(item: string): { readonly name: string; readonly path: string } {
  const [, name = '', file = ''] = /^([a-z0-9][a-z0-9.-]{0,252})=(.+)$/.exec(item) ?? [];
  if (file === '') throw new FlagValueError('must be NAME=PATH');
  return { name, path: file };
}

export const runCommands: readonly Command[] = [
  defineCommand({
    words: 'run',
    summary: 'reconciles a StaticExport over a folder instead of a cluster',
    flags: {
      file: { ...path.required('Manifest: one StaticExport, and its key Secret if you like'), short: 'f' },
      state: path.required('Folder of the resource’s status and outputs; one run at a time'),
      once: toggle('End when nothing is left to do now'),
      request: toggle('Request a new export'),
      publish: {
        ...listOf(
          'dir=PATH|archive=PATH',
          '\n',
          readPublishPath,
          `Folder or archive (${archiveEndings}) to write each published version to`,
        ),
        candidates: ['dir=', 'archive='],
      },
      values: path.optional('YAML file whose staticExport.version to set; never gets the link'),
      linkFile: path.optional(
        'File to write bundle.json to, with each new link, for a bundle server; only its owner can read it',
      ),
      secret: listOf(
        'NAME=PATH',
        '\n',
        readSecretFile,
        'Secret of the manifest: a file with the API key or the token of a git target, or a folder with a file for each key, such as username and password',
      ),
      apiBaseUrl: httpUrl.optional('Export API for a manifest without spec.api.baseUrl'),
      allowedApiHosts: list(
        'HOST,...',
        'Export APIs that may receive the key, in addition to --api-base-url: HOST or HOST:PORT for https, http://HOST:PORT for clear text',
      ),
      allowedGitHosts: list(
        'HOST,...',
        'Hosts of git targets, which get their credentials: HOST or HOST:PORT, always https (default: none)',
      ),
      allowedMirrorHosts: list(
        'HOST,...',
        'Registries and S3 services of spec.mirror, which get its credentials: HOST or HOST:PORT for https, http://HOST:PORT for clear text (default: none)',
      ),
      allowPrivateMirrorHosts: toggle(
        'Allow hosts of --allowed-mirror-hosts at loopback, private and cluster addresses',
      ),
      timeout: positiveDuration.withDefault('60m', 'Deadline of the whole command with --once'),
      requestTimeout: positiveDuration.withDefault('30s', 'Deadline of one request to the export API'),
      startsPerHour,
      inspectTimeout: positiveDuration.withDefault('15m', 'Deadline to download and inspect one archive'),
      ...linkFlags,
      allowPrivateLinks: toggle('Allow links and git hosts at loopback, private and cluster addresses'),
      ...sizeFlags,
    },
    check: ({ allowedGitHosts, allowedMirrorHosts }) => {
      const wrong = allowedMirrorHosts.findIndex((entry) => readOriginEntry(entry) === undefined);
      if (wrong >= 0) {
        return `--allowed-mirror-hosts: entry ${wrong + 1} must be HOST, HOST:PORT or http://HOST:PORT, without path and wildcard; put an IPv6 address in brackets`;
      }
      const at = allowedGitHosts.findIndex((entry) => !(readOriginEntry(entry) ?? '').startsWith('https:'));
      if (at < 0) return undefined;
      return `--allowed-git-hosts: entry ${at + 1} must be HOST or HOST:PORT, without scheme, path and wildcard`;
    },
    examples: ['run -f docs.yaml --once --state state --publish dir=public \\\n    --secret export-api=key'],
    run: async () => (await import('./run-command.ts')).runManifest,
    documents: async () => (await import('./documents.ts')).runDocuments,
  }),
];
