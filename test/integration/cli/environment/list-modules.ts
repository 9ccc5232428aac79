// Preloaded into a program (`--import`): writes the address of each module that it loads into the file that
// `LOADED_MODULES` names, a line each. Changes nothing of the program.

import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

const file = process.env['LOADED_MODULES'] ?? '';

registerHooks({
  load: (url, context, nextLoad) => {
    appendFileSync(file, `${url}\n`);
    return nextLoad(url, context);
  },
});
