// All rules that are broken on purpose, by theme and in the order of README.md.

import { accessMutations } from './access.ts';
import type { Mutations } from './exchange.ts';
import { gitMutations } from './git.ts';
import { hookMutations } from './hooks.ts';
import { linkMutations } from './link.ts';
import { mirrorMutations } from './mirrors.ts';
import { objectMutations } from './objects.ts';
import { outputMutations } from './outputs.ts';
import { promotionMutations } from './promotion.ts';
import { refMutations } from './refs.ts';
import { startMutations } from './start.ts';
import { wakeMutations } from './wake.ts';

export const ruleMutations: Mutations = {
  ...linkMutations,
  ...startMutations,
  ...promotionMutations,
  ...hookMutations,
  ...accessMutations,
  ...outputMutations,
  ...objectMutations,
  ...gitMutations,
  ...refMutations,
  ...mirrorMutations,
  ...wakeMutations,
};
