// Imported first and for its effect alone: what is loaded after it would have made the heap grow already.
// Owns nothing else; the decision and its words are in heap-growth.ts.

import { keepHeapSmall } from './heap-growth.ts';

keepHeapSmall();
