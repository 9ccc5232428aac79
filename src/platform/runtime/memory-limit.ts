// How much memory this process may take: the limit of its container (cgroup v1 or v2), or all memory of the machine.
// Refuses: what is free now, which changes with each moment.

import { totalmem } from 'node:os';

/**
 * In bytes.
 *
 * @param constrained 0, or more than any machine has, where there is no limit
 */
export function memoryLimit(constrained = process.constrainedMemory(), all = totalmem()): number {
  return constrained > 0 && constrained < all ? constrained : all;
}
