// Composition root of the thread that reads large pages of conversations. Started by src/export-api (listing-client.ts).
// Reads nothing of the environment.

import { readListing } from '#export-api/listing-run.ts';
import { serveTasks } from '#platform/runtime/task.ts';

serveTasks(readListing);
