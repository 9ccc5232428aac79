// Long campaigns play millions of reconciles over unchanged objects. This hook replaces pure functions of the product
// by the same functions with a cache: one computation for one argument. Nothing else differs, which `memo.test.ts`
// checks. Load it before any module of the product, with `--import`.

import { existsSync } from 'node:fs';
import { registerHooks } from 'node:module';
import './text-decoder.ts';

const folder = new URL('./', import.meta.url).href;
const source = new URL('../../../src/', import.meta.url).href;

/** Imported modules and the files here that replace them. A replacement imports the real module. */
const standIns: Readonly<Record<string, string>> = {
  [`${source}operator/staticexport/parse.ts`]: `${folder}parse.ts`,
  [`${source}operator/staticexport/status-schema.ts`]: `${folder}status-schema.ts`,
  [`${source}operator/staticexport/wanted.ts`]: `${folder}wanted.ts`,
  [`${source}platform/wire/instant.ts`]: `${folder}instant.ts`,
  [`${source}bundle/published-bundle.ts`]: `${folder}published-bundle.ts`,
  [`${source}operator/loop/allowed-host.ts`]: `${folder}allowed-host.ts`,
  [`${source}operator/loop/publish/outputs.ts`]: `${folder}outputs.ts`,
  [`${source}operator/targets/values.ts`]: `${folder}values.ts`,
  [`${source}operator/reconcile/spread.ts`]: `${folder}spread.ts`,
  [`${source}operator/reconcile/status/foreign-fields.ts`]: `${folder}foreign-fields.ts`,
  [`${source}operator/reconcile/status/failure-words.ts`]: `${folder}failure-words.ts`,
};
const moved = Object.keys(standIns).filter((module) => !existsSync(new URL(module)));
if (moved.length > 0) throw new Error(`not there, so that nothing is replaced: ${moved.join(', ')}`);
const packages: Readonly<Record<string, string>> = {
  yaml: `${folder}yaml.ts`,
  croner: `${folder}croner.ts`,
};

registerHooks({
  resolve: (specifier, context, next) => {
    const isStandIn = context.parentURL?.startsWith(folder) ?? false;
    if (isStandIn) return next(specifier, context);
    const isOurs = context.parentURL?.startsWith(source) ?? false;
    const known = isOurs ? packages[specifier] : undefined;
    if (known !== undefined) return next(known, context);
    const found = next(specifier, context);
    const standIn = standIns[found.url];
    return standIn === undefined ? found : next(standIn, context);
  },
});
