// The program that says what BuildKit makes of a Dockerfile, built from its Go module.

import { join } from 'node:path';
import { findGoProgram } from '../../support/go-program.ts';

/** @throws Error saying what to install when it must be built and there is no Go */
export const findDockerfilePlan = (): Promise<string> =>
  findGoProgram({ folder: join(import.meta.dirname, 'dockerfile-plan'), standardPackages: 150 });
