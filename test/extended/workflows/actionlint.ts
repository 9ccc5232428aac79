// actionlint, which checks expressions, contexts and permissions of workflows, built from its Go module.

import { join } from 'node:path';
import { findGoProgram } from '../../support/go-program.ts';

/** @throws Error saying what to install when it must be built and there is no Go */
export const findActionlint = (): Promise<string> =>
  findGoProgram({ folder: join(import.meta.dirname, 'actionlint'), standardPackages: 90 });
