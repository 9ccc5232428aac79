// krew, the plugin manager of kubectl, built from its Go module.

import { join } from 'node:path';
import { findGoProgram } from '../../support/go-program.ts';

/** @throws Error saying what to install when it must be built and there is no Go */
export const findKrew = (): Promise<string> =>
  findGoProgram({ folder: join(import.meta.dirname, 'krew'), standardPackages: 250 });
