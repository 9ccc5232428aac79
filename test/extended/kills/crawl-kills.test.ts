// kill -9 of the export service at fifty moments of one crawl: at requests spread over the whole of it, and while it puts the
// archive together. The archive is that of a crawl that was not killed.

import { test } from 'node:test';
import { type CrawlMoment, killCrawls } from '../../integration/export-service/killed-crawls.ts';

const requestMoments = 40;

test('a crawl killed at any of fifty moments gives the archive of a whole crawl, and asks for nothing again', () =>
  killCrawls((requests): readonly CrawlMoment[] => [
    ...Array.from({ length: requestMoments }, (_, at) => ({
      request: 1 + Math.round((at * (requests - 1)) / (requestMoments - 1)),
    })),
    ...[0, 2, 4, 8, 12, 16, 24, 32, 64, 128].map((afterLastMs) => ({ afterLastMs })),
  ]));
