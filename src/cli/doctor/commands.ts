// The command that checks a cluster: words, flags and texts. Refuses: importing its work, because `--help` of any command
// would load it.

import { path, toggle } from '#platform/runtime/flags/flag-kinds.ts';
import { clusterFlags, named } from '../cluster/commands.ts';
import { type Command, defineCommand } from '../command.ts';

export const doctorCommands: readonly Command[] = [
  defineCommand({
    words: 'doctor',
    summary: 'checks the cluster, the operator and StaticExports',
    arguments: [{ ...named, describe: 'One StaticExport; default: all', isRequired: false }],
    flags: {
      ...clusterFlags,
      allNamespaces: { ...toggle('Check the StaticExports of all namespaces'), short: 'A' },
      pre: toggle('Check only what an installation of the operator needs'),
      report: path.optional('Write a redacted archive for a support case: FILE.zip'),
    },
    check: ({ report, pre, allNamespaces }) => {
      if (report !== undefined && !report.endsWith('.zip')) return '--report must end with .zip';
      return pre && allNamespaces ? '--pre checks no StaticExports; omit --all-namespaces' : undefined;
    },
    examples: ['doctor docs', 'doctor --pre -n static-export', 'doctor -A --report report.zip'],
    run: async () => (await import('./doctor-command.ts')).runDoctor,
    documents: async () => (await import('./documents.ts')).doctorDocuments,
  }),
];
