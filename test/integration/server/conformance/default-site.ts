// The site of the sections that need no flags: started once for all of them, and ended after the last one.

import { after } from 'node:test';
import { type ConformanceSite, serveConformanceSite } from './conformance-site.ts';

let started: Promise<ConformanceSite> | undefined;

after(async () => (await started)?.remove());

export function defaultSite(): Promise<ConformanceSite> {
  started ??= serveConformanceSite();
  return started;
}
