// What the client of a Next.js server asks for when a visitor follows a link: the data of a page, at its own address and for a
// header. A bundle has one file for an address, so the data are in a file of their own, and the client asks for that file. Pure.
// Refuses a site whose data were not in the crawl. Invariant: where a file is missing, the client gets what it would get without
// this.

import type { SourceEdit } from '#platform/html/source-edits.ts';
import { isPayloadType } from '#site/references/next-payload.ts';
import type { Visit } from '../visit.ts';

/** Whether data came from a server that runs. A static export has a client that asks for files by itself. */
export function hasRenderedData(visits: Iterable<Visit>): boolean {
  for (const { outcome, isTaken } of visits) {
    if (isTaken && outcome?.kind === 'stored' && isPayloadType(outcome.contentType)) return true;
  }
  return false;
}

/**
 * In front of the client, which calls `fetch` by its global name. Requests for a part of a page have no file: without an answer,
 * the client asks for the whole page. It reads type and address of the answer, so that both are as its server has them.
 */
const translation = `(()=>{const s=self,f=s.fetch;if(s.__sxData)return;s.__sxData=1;s.fetch=async(a,o)=>{
const h=o&&o.headers&&new Headers(o.headers);
if(!h||h.get("rsc")!=="1"||(o.method||"GET")!=="GET")return f(a,o);
const u=new URL(a.url||a,location.href);
if(u.origin!==location.origin)return f(a,o);
const n=(b,i)=>Object.defineProperty(new Response(b,i),"url",{value:u.href});
if(h.has("next-router-segment-prefetch"))return n(null,{status:204});
const r=await f(u.pathname.replace(/\\.html$/,"").replace(/\\/$/,"/index")+".txt",{credentials:"same-origin",signal:o.signal});
const t=r.ok?await r.text():"";
return /^[0-9a-f]*:/.test(t)?n(t,{headers:{"content-type":"text/x-component"}}):f(a,o)}})();
`;

/** @returns edits in order; none for a script that is not the client */
export function editNextClient(source: string): readonly SourceEdit[] {
  if (!source.includes('"text/x-component"') || !source.includes('"_rsc"')) return [];
  const at = /^\s*(?:"use strict"|'use strict');/.exec(source.slice(0, 100))?.[0].length ?? 0;
  return [{ at, drop: 0, insert: translation }];
}
