// Imported first, for its effect alone, because modules loaded before it would already have made the heap grow. Owns
// nothing else; heap-growth.ts has the decision and explains it.

import { keepHeapSmall } from './heap-growth.ts';

keepHeapSmall();
