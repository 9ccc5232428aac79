// What one page does in a browser: requests to other hosts, errors, and requests to the site that fail. Owns which event counts as
// which, and the form of its text: no query, no address of the machine, nothing random. Pure. Invariant: a page that floods its
// console costs no more than one that fills these bounds.

import { printable } from '#platform/wire/printable-text.ts';

export type PageEvent =
  | { readonly type: 'request'; readonly url: string }
  | { readonly type: 'answer'; readonly url: string; readonly status: number }
  /** @property reason as the browser names it */
  | { readonly type: 'failure'; readonly url: string; readonly reason: string }
  /** An error in the console. */
  | { readonly type: 'error'; readonly text: string }
  | { readonly type: 'exception'; readonly text: string };

/** Texts are sorted: the order of events differs from one run to the next. */
export interface PageFindings {
  /** Host and path. */
  readonly offSite: readonly string[];
  readonly errors: readonly string[];
}

export interface PageRecord {
  note(event: PageEvent): void;
  findings(): PageFindings;
}

/** Different texts of one page. */
const maxTexts = 100;
const maxShown = 300;
/** Of a text that is searched. */
const maxSearched = 4096;

/** @param origin of the site */
export function createPageRecord(origin: string): PageRecord {
  const offSite = new Set<string>();
  const errors = new Set<string>();
  const add = (texts: Set<string>, text: string): void => {
    if (texts.size < maxTexts && text !== '') texts.add(printable(text, maxShown));
  };
  const other = (text: string): string | undefined => addressElsewhere(text, origin);
  return {
    note: (event) => {
      switch (event.type) {
        case 'request': {
          const address = other(event.url);
          if (address !== undefined) add(offSite, address);
          return;
        }
        case 'answer':
          if (event.status >= 400 && other(event.url) === undefined)
            add(errors, `${event.status} ${shownText(event.url, origin)}`);
          return;
        case 'failure':
          // The page gave the request up, or the console says that the policy refused it.
          if (event.reason === 'net::ERR_ABORTED' || event.reason === 'csp') return;
          if (other(event.url) === undefined) add(errors, `${event.reason} ${shownText(event.url, origin)}`);
          return;
        case 'error': {
          // An answer or a failure has noted it.
          if (event.text.startsWith('Failed to load resource:')) return;
          const refused = /Content Security Policy/i.test(event.text.slice(0, maxSearched))
            ? refusedAddress(event.text, origin)
            : undefined;
          if (refused === undefined) add(errors, shownText(event.text, origin));
          else add(offSite, refused);
          return;
        }
        case 'exception':
          add(errors, shownText(event.text, origin));
          return;
        default:
          event satisfies never;
      }
    },
    findings: () => ({ offSite: [...offSite].sort(), errors: [...errors].sort() }),
  };
}

/** Host and path of a URL that a network would be needed for; `undefined` for one of the site, and for `data:` and `blob:`. */
function addressElsewhere(text: string, origin: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || !/^(?:https?|wss?):$/.test(url.protocol)) return undefined;
  return url.host === URL.parse(origin)?.host ? undefined : `${url.host}${url.pathname}`;
}

/** The first address of another host in a message of the policy. */
function refusedAddress(text: string, origin: string): string | undefined {
  const [written = ''] = /\b(?:https?|wss?):\/\/[^\s'"]+/i.exec(text.slice(0, maxSearched)) ?? [];
  return addressElsewhere(written.replace(/[.,;]+$/, ''), origin);
}

/** What a browser puts in front of an exception, or not, as it comes to know of it. */
const browserWords = /^Uncaught (?:\(in promise\) )?|Failed to execute '\w{1,80}' on '\w{1,80}': /g;

/** The first line, without queries, fragments, the site's origin and random identifiers. */
function shownText(text: string, origin: string): string {
  const [line = ''] = text.slice(0, maxSearched).trim().split('\n', 1);
  return line
    .replace(browserWords, '')
    .replace(/((?:https?|wss?|blob):[^\s?#"<>]*)[?#][^\s'"<>]*/gi, '$1')
    .replaceAll(origin, '')
    .replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi, '…')
    .trim();
}
