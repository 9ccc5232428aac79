// A copy to a mirror that ends by kill -9 before and after every piece of data on the network. COPY_KILLS=24 for fewer moments.

import { test } from 'node:test';
import { killCopiesToBucket, killCopiesToRegistry } from '../../integration/mirror/killed-copies.ts';
import { noRegistry } from '../../support/docker-registry.ts';
import { noS3 } from '../../support/versitygw.ts';

const mostKills = Number(process.env['COPY_KILLS'] ?? Number.POSITIVE_INFINITY);
// Each kill takes about a second.
const timeout = 30 * 60_000;

test(
  'a copy to a registry that is killed leaves no tag without its bundle, and the next copy is whole',
  {
    skip: noRegistry,
    timeout,
  },
  () => killCopiesToRegistry(mostKills),
);

test(
  'a copy to a bucket that is killed leaves no tag without its bundle, and the next copy is whole',
  {
    skip: noS3,
    timeout,
  },
  () => killCopiesToBucket(mostKills),
);
