// The sections of the conformance suite, asked of one site with the fast path and of the same site without it. Fields that need
// flags are in fields.test.ts.

import './conditional.ts';
import './methods.ts';
import './negotiation.ts';
import './range.ts';
import './targets.ts';
