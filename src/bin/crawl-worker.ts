// Composition root of the thread that crawls and packs one site. Started by src/export-service (export-thread.ts).
// Reads nothing of the environment.

import { verifyCrawledSite } from '#export-service/browser-check.ts';
import { crawlSite } from '#export-service/crawler/crawl.ts';
import { keepAnswers } from '#export-service/crawler/journal/crawl-answers.ts';
import { packSite } from '#export-service/crawler/pack.ts';
import { serveExports } from '#export-service/export-thread.ts';
import { exportWith } from '#export-service/site-export.ts';
import { systemClock } from '#platform/runtime/clock.ts';

serveExports(exportWith(crawlSite, packSite, keepAnswers, verifyCrawledSite), systemClock);
