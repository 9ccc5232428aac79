// A project of a few files that has what a release changes, and the names of its surface.

import type { Tree } from '../../../../packaging/version/release-plan.ts';
import type { Surface } from '../../../../packaging/version/surface.ts';

const chart = (name: string): string => `apiVersion: v2
name: ${name}
version: 0.1.0
appVersion: 0.1.0
annotations:
  artifacthub.io/license: Apache-2.0
  artifacthub.io/images: |
    - name: static-export-operator
      image: static-export-operator:0.1.0
      platforms: [linux/amd64, linux/arm64]
`;

export const smallSurface: Surface = {
  flags: ['operator --a', 'operator --b'],
  values: ['static-export-site image.tag'],
  fields: ['spec.a'],
  metrics: ['staticexport_a'],
};

/** @param lines of Unreleased */
export function smallTree(lines = '### Added\n\n- First.\n'): Map<string, string> {
  const json = { name: 'static-export-operator', version: '0.1.0', private: true };
  return new Map([
    ['package.json', `${JSON.stringify(json, undefined, 2)}\n`],
    [
      'CHANGELOG.md',
      `# Changelog\n\nAll of it. Nothing has been\nreleased yet.\n\n## Unreleased: 0.1.0\n\n${lines}`,
    ],
    ['Dockerfile', 'ARG VERSION=0.1.0\n'],
    [
      'README.md',
      '| State | 0.1.0, not released yet. Fields may change |\n  is there already; 0.1 names it now\n',
    ],
    ['charts/static-export-operator/Chart.yaml', chart('static-export-operator')],
    ['charts/static-export-site/Chart.yaml', chart('static-export-site')],
    ['src/a.ts', 'export const a = 1;\n'],
  ]);
}

export const withChanges = (tree: Tree, changes: Tree): Map<string, string> => new Map([...tree, ...changes]);
