// How V8 compiles WebAssembly, which here is one module: the HTTP parser of undici. Its first compiler is good enough for
// it; the second one takes 24 MB for a tenth of a second at the start, of which 18 stay with the process for ever, and no
// difference in the processor's time for a request was seen. Refuses: anything else of V8's.

import { setFlagsFromString } from 'node:v8';

/** Before the first connection of this process. On a command line, flags would make V8 refuse the compile cache. */
export function keepWasmPlain(): void {
  setFlagsFromString('--no-wasm-tier-up');
  setFlagsFromString('--no-wasm-dynamic-tiering');
}
