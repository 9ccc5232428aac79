// Whether the programs of one installation are of one minor version: this program, the operators, their charts, and the
// bundle servers. Pure. Before 1.0 a minor version may change what is stored or published.

import { isReadable } from '../cluster/reading.ts';
import { type Check, passed, skipped, warned } from './check.ts';
import type { ClusterFacts } from './cluster-state.ts';

/** Major and minor of `v1.35.4` or `1.2.3-rc.1`; `undefined` for another text. */
export function minorOf(version: string): readonly [number, number] | undefined {
  const found = /^v?(\d+)\.(\d+)/.exec(version);
  return found === null ? undefined : [Number(found[1]), Number(found[2])];
}

export function checkSkew({ program, operators, exports }: ClusterFacts): readonly Check[] {
  const found = [
    ...(isReadable(operators) ? operators.value : []).flatMap(({ deployment, version, chart }) => {
      const { namespace, name } = deployment.metadata;
      return [
        { what: `operator ${namespace}/${name}`, version },
        { what: `chart of ${namespace}/${name}`, version: /-(\d+\.\d+\.\d+[^-]*.*)$/.exec(chart ?? '')?.[1] },
      ];
    }),
    ...exports
      .flatMap(({ pods }) => [...pods.values()].flatMap((read) => (isReadable(read) ? read.value : [])))
      .filter(({ server }) => server !== undefined)
      .map(({ pod, server, serving }) => ({
        what: `bundle server ${pod.metadata.namespace}/${pod.metadata.name}`,
        version: serving.serverVersion ?? server?.imageVersion,
      })),
  ];
  const known = found.filter(({ version }) => version !== undefined && minorOf(version) !== undefined);
  const other = known.filter(({ version = '' }) => !isSameMinor(version, program.version));
  if (other.length > 0) {
    const list = other.slice(0, 5).map(({ what, version }) => `${what} is ${version}`);
    const more = other.length > 5 ? `; and ${other.length - 5} more` : '';
    return [
      warned(
        'VersionSkew',
        `This program is ${program.version}, but ${list.join('; ')}${more}.`,
        'Upgrade to one version: first the operator with its CRD, then the sites, then this program.',
      ),
    ];
  }
  if (known.length === 0) {
    return [skipped('VersionSkew', 'No version of an operator, a chart or a bundle server was found.')];
  }
  const own = minorOf(program.version)?.join('.') ?? program.version;
  return [
    passed(
      'VersionSkew',
      `All are of version ${own}: this program and ${known.length} others that were found.`,
    ),
  ];
}

function isSameMinor(one: string, other: string): boolean {
  return minorOf(one)?.join('.') === minorOf(other)?.join('.');
}
