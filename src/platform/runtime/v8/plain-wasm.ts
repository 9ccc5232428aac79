// How V8 compiles WebAssembly, which here is one module: the HTTP parser of undici. V8's first compiler is good enough.
// The second one takes 24 MB for a tenth of a second at the start, and 18 MB stay with the process forever.
// Measurements showed no difference in processor time per request. Refuses to change anything else of V8.

import { setFlagsFromString } from 'node:v8';

/** Before the first connection of this process. On a command line, flags would make V8 refuse the compile cache. */
export function keepWasmPlain(): void {
  setFlagsFromString('--no-wasm-tier-up');
  setFlagsFromString('--no-wasm-dynamic-tiering');
}
