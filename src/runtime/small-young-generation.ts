// Imported first and for its effect alone: what is loaded after it would have made the young generation grow already.
// Owns nothing else; the decision and its words are in young-generation.ts.

import { keepYoungGenerationSmall } from './young-generation.ts';

keepYoungGenerationSmall();
