// The names that users depend on, as the sources have them now: flags from the descriptions that parse command lines,
// values from the schemas of the charts, fields from the schema of the resource, metrics from where they are registered.

import { commands } from '#bin/static-export-commands.ts';
import { tapHelp } from '#conversations/commands/tap-arguments.ts';
import { exportServiceProgram } from '#export-service/program.ts';
import { operatorProgram } from '#operator/flags.ts';
import { specSchema } from '#operator/staticexport/schema.ts';
import { statusSchema } from '#operator/staticexport/status-schema.ts';
import { webhookReceiverProgram } from '#operator/webhook/program.ts';
import { flagName } from '#platform/runtime/flags/flags.ts';
import { bundleServer } from '#server/server-flags.ts';
import { structuralSchema } from '../../crds/generate.ts';
import { metricNames } from './metric-names.ts';
import type { Tree } from './release-plan.ts';
import { leafPaths } from './schema-paths.ts';
import type { Surface } from './surface.ts';

export const chartNames = ['static-export-operator', 'static-export-site'] as const;

/** @param tree gives the schemas of charts, and the code that registers metrics */
export function readSurface(tree: Tree): Surface {
  const described = [
    operatorProgram,
    bundleServer,
    exportServiceProgram,
    webhookReceiverProgram,
    ...commands.map(({ description }) => description),
  ];
  const values = chartNames.flatMap((chart) => {
    const schema = tree.get(`charts/${chart}/values.schema.json`) ?? '{}';
    return leafPaths(JSON.parse(schema)).map((path) => `${chart} ${path}`);
  });
  const code = [...tree].filter(([path]) => /^src\/.*\.ts$/.test(path));
  return {
    flags: [
      ...described.flatMap(({ name, flags }) =>
        Object.keys(flags).map((key) => `${name} --${flagName(key)}`),
      ),
      ...[...tapHelp.matchAll(/^ +(?:-\w, )?(--[a-z][a-z-]+)/gm)].map(
        ([, flag]) => `tap-static-export ${flag}`,
      ),
    ].sort(),
    values: values.sort(),
    fields: [
      ...leafPaths(structuralSchema(specSchema)).map((path) => `spec.${path}`),
      ...leafPaths(structuralSchema(statusSchema)).map((path) => `status.${path}`),
    ].sort(),
    metrics: [...new Set(code.flatMap(([, text]) => metricNames(text)))].sort(),
  };
}
