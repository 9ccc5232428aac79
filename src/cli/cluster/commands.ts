// The commands about StaticExports of a cluster: words, flags and texts. Refuses: importing their work, because `--help`
// of any command would load it.

import {
  FlagValueError,
  kind,
  oneOf,
  path,
  positiveCount,
  positiveDuration,
  text,
  toggle,
} from '#platform/runtime/flags/flag-kinds.ts';
import type { Argument } from '#platform/runtime/flags/flags.ts';
import { type Command, defineCommand } from '../command.ts';
import type { OutputFormat } from '../output-format.ts';
import type { EditVerb } from './edits.ts';

const documents = async () => (await import('./documents.ts')).clusterDocuments;

export const named = { placeholder: 'NAME', candidates: { source: 'names' } } as const;
const staticExport = { ...named, describe: 'The StaticExport', isRequired: true };

/** Of a header, which holds no control characters. */
const userName = kind<string>('USER', (value) => {
  if (!/^[ -~]{1,256}$/.test(value)) throw new FlagValueError('must be the name of a user');
  return value;
});

export const clusterFlags = {
  namespace: {
    ...text.optional('Namespace (default: the one of the context)'),
    short: 'n',
    candidates: { source: 'namespaces' },
  },
  kubeconfig: path.optional(
    'Kubeconfig file (default: $KUBECONFIG; then in a pod the service account, elsewhere ~/.kube/config)',
  ),
  context: {
    ...text.optional('Context of the kubeconfig (default: its current one)'),
    candidates: { source: 'contexts' },
  },
  as: userName.optional('Act as this user (impersonation)'),
  clusterTimeout: positiveDuration.withDefault('15s', 'Deadline of one request to the Kubernetes API server'),
};

const editFlags = {
  ...clusterFlags,
  yes: { ...toggle('Do not ask before a change that readers may notice'), short: 'y' },
  dryRun: oneOf(['none', 'client', 'server']).withDefault(
    'none',
    'Print the change (client), or let the Kubernetes API server check it (server), and store nothing',
  ),
};

/** Of verbs after which another version is published. */
const publishingFlags = {
  ...editFlags,
  wait: toggle('Wait until the version is published, or cannot be'),
  timeout: positiveDuration.withDefault('10m', 'Deadline of --wait'),
};
const publishingVerbs: ReadonlySet<EditVerb> = new Set(['promote', 'pin', 'rollback']);

const editFormats: readonly OutputFormat[] = ['text', 'name', 'json', 'yaml'];

const anyVersion = {
  placeholder: 'VERSION',
  describe: 'A version of the history',
  isRequired: false,
  candidates: { source: 'versions' },
};

const heldVersion = {
  placeholder: 'VERSION',
  describe: 'The candidate that you mean; another one is refused',
  isRequired: false,
  candidates: { source: 'candidates' },
};

/** Verb, summary, which version may be named, example. */
const editRows: readonly (readonly [
  Exclude<EditVerb, 'request' | 'refresh-link'>,
  string,
  Argument | undefined,
  string,
])[] = [
  ['promote', 'publishes the candidate that a gate holds', heldVersion, 'promote docs'],
  ['reject', 'drops the candidate that a gate holds; it is never published', heldVersion, 'reject docs'],
  [
    'pin',
    'publishes one version of the history; no exports start',
    { ...anyVersion, isRequired: true },
    'pin docs 20261122-192123-6836c104',
  ],
  ['unpin', 'removes the pin; exports go on', undefined, 'unpin docs'],
  ['rollback', 'pins the version before the published one', anyVersion, 'rollback docs --yes --wait'],
  ['suspend', 'pauses exports and promotions; refreshes the link', undefined, 'suspend docs'],
  ['resume', 'ends the pause', undefined, 'resume docs'],
];
const verbs = editRows.map(([verb, summary, ofVersion, example]) => {
  const common = {
    words: verb,
    summary,
    arguments: ofVersion === undefined ? [staticExport] : [staticExport, ofVersion],
    formats: editFormats,
    examples: [example],
    run: async () => (await import('./edit-command.ts')).editWith(verb),
    documents,
  };
  return publishingVerbs.has(verb)
    ? defineCommand({ ...common, flags: publishingFlags })
    : defineCommand({ ...common, flags: editFlags });
});

export const viewCommands: readonly Command[] = [
  defineCommand({
    words: 'get',
    summary: 'lists StaticExports, or shows one, with version and link',
    arguments: [{ ...named, describe: 'One StaticExport; default: all', isRequired: false }],
    flags: {
      ...clusterFlags,
      allNamespaces: { ...toggle('List those of all namespaces'), short: 'A' },
      selector: { ...text.optional('Only those whose labels match'), short: 'l' },
      watch: { ...toggle('Go on with a row for each change until it is stopped'), short: 'w' },
    },
    formats: ['text', 'wide', 'name', 'json', 'yaml'],
    examples: ['get --all-namespaces', 'get --watch', 'get docs -n team -o json'],
    run: async () => (await import('./views.ts')).getExports,
    documents,
  }),
  defineCommand({
    words: 'status',
    summary: 'shows one StaticExport: version, link, job and conditions',
    arguments: [staticExport],
    flags: clusterFlags,
    examples: ['status docs'],
    run: async () => (await import('./views.ts')).showStatus,
    documents,
  }),
  defineCommand({
    words: 'history',
    summary: 'lists the versions that can be pinned',
    arguments: [staticExport],
    flags: clusterFlags,
    examples: ['history docs'],
    run: async () => (await import('./views.ts')).showHistory,
    documents,
  }),
  defineCommand({
    words: 'tree',
    summary: 'shows its Secrets, targets, and pods with what each serves',
    arguments: [staticExport],
    flags: clusterFlags,
    examples: ['tree docs'],
    run: async () => (await import('./tree.ts')).showTree,
    documents,
  }),
  defineCommand({
    words: 'events',
    summary: 'lists the events of one StaticExport, the newest last',
    arguments: [staticExport],
    flags: clusterFlags,
    examples: ['events docs'],
    run: async () => (await import('./events.ts')).showEvents,
    documents,
  }),
  defineCommand({
    words: 'logs',
    summary: "shows the operator's log lines about one StaticExport",
    arguments: [staticExport],
    flags: {
      ...clusterFlags,
      since: positiveDuration.withDefault('1h', 'Lines of this time'),
      tail: positiveCount.withDefault('200', 'At most this many lines, the newest'),
      follow: { ...toggle('Go on with new lines until it is stopped'), short: 'f' },
    },
    examples: ['logs docs --since 6h', 'logs docs --follow'],
    run: async () => (await import('./logs.ts')).showLogs,
    documents,
  }),
];

export const changeCommands: readonly Command[] = [
  defineCommand({
    words: 'request',
    summary: 'requests an export now',
    arguments: [{ ...named, describe: 'Default: the only StaticExport of the namespace', isRequired: false }],
    flags: {
      ...editFlags,
      wait: toggle('Wait until the export is published, held or failed'),
      timeout: positiveDuration.withDefault('60m', 'Deadline of --wait'),
    },
    formats: editFormats,
    examples: ['request docs --wait'],
    run: async () => (await import('./edit-command.ts')).editWith('request'),
    documents,
  }),
  ...verbs,
  defineCommand({
    words: 'refresh-link',
    summary: 'replaces the published link now; the version stays',
    arguments: [staticExport],
    flags: {
      ...editFlags,
      wait: toggle('Wait until the new link is published'),
      timeout: positiveDuration.withDefault('5m', 'Deadline of --wait'),
    },
    formats: editFormats,
    examples: ['refresh-link docs --wait'],
    run: async () => (await import('./edit-command.ts')).editWith('refresh-link'),
    documents,
  }),
];
