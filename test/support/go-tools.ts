// Programs of others, built from Go modules, that check what this project writes for them: krew, the plugin manager of
// kubectl, and Tekton's own validation of tasks.

import { join } from 'node:path';
import { findGoProgram } from './go-program.ts';

/** @throws Error saying what to install when it must be built and there is no Go */
export const findKrew = (): Promise<string> =>
  findGoProgram({ folder: join(import.meta.dirname, 'krew'), standardPackages: 250 });

/** @throws Error saying what to install when it must be built and there is no Go */
export const findTektonValidation = (): Promise<string> =>
  findGoProgram({ folder: join(import.meta.dirname, 'tekton-task'), standardPackages: 180 });
