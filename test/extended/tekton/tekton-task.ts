// Tekton's own validation of a task, built from its Go module.

import { join } from 'node:path';
import { findGoProgram } from '../../support/go-program.ts';

/** @throws Error saying what to install when it must be built and there is no Go */
export const findTektonValidation = (): Promise<string> =>
  findGoProgram({ folder: join(import.meta.dirname, 'tekton-task'), standardPackages: 180 });
