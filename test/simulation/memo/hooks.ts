// Long campaigns play millions of reconciles over unchanged objects. This hook replaces pure functions of the product
// by the same functions with a cache: one computation for one argument. Nothing else differs, which `memo.test.ts`
// checks. Load it before any module of the product, with `--import`.

import { registerHooks } from 'node:module';
import './text-decoder.ts';

const folder = new URL('./', import.meta.url).href;
const source = new URL('../../../src/', import.meta.url).href;

/** Imported modules and the files here that replace them. A replacement imports the real module. */
const standIns: Readonly<Record<string, string>> = {
  [`${source}staticexport/parse.ts`]: `${folder}parse.ts`,
  [`${source}staticexport/status-schema.ts`]: `${folder}status-schema.ts`,
  [`${source}staticexport/wanted.ts`]: `${folder}wanted.ts`,
  [`${source}staticexport/instant.ts`]: `${folder}instant.ts`,
  [`${source}bundle/published-bundle.ts`]: `${folder}published-bundle.ts`,
  [`${source}loop/allowed-host.ts`]: `${folder}allowed-host.ts`,
  [`${source}loop/publish/outputs.ts`]: `${folder}outputs.ts`,
  [`${source}targets/values.ts`]: `${folder}values.ts`,
  [`${source}reconcile/spread.ts`]: `${folder}spread.ts`,
  [`${source}reconcile/status/foreign-fields.ts`]: `${folder}foreign-fields.ts`,
  [`${source}reconcile/status/failure-words.ts`]: `${folder}failure-words.ts`,
};
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
