// A copy to a mirror that ends by kill -9 at six moments. Every moment is in test/extended/kills.

import { test } from 'node:test';
import { noRegistry } from '../../support/docker-registry.ts';
import { noS3 } from '../../support/versitygw.ts';
import { killCopiesToBucket, killCopiesToRegistry } from './killed-copies.ts';

test(
  'a copy to a registry that is killed leaves no tag without its bundle, and the next copy is whole',
  {
    skip: noRegistry,
  },
  () => killCopiesToRegistry(6),
);

test(
  'a copy to a bucket that is killed leaves no tag without its bundle, and the next copy is whole',
  {
    skip: noS3,
  },
  () => killCopiesToBucket(6),
);
