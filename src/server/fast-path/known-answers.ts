// Answers that were decided before, found by the text of their request: most requests differ from an earlier one in
// nothing that matters. Holds what `reply` planned for a plain GET of a whole file, with its head as text, never a body.
// Refuses requests with a condition or a query, whose texts seldom come again, those for Markdown, and everything that is no file's 200.
// Invariant: an answer found here is the one that would be planned now. A swap, and new variants, forget them all.

import type { FileBody } from '../answer/body-at-once.ts';
import type { SiteView } from '../content/live-site.ts';
import type { VariantTable } from '../content/variant-table.ts';
import { acceptedForms, type FileForm } from '../http/content-encoding.ts';
import { prefersMarkdown } from '../http/media-type.ts';
import type { PlainRequest } from './plain-request.ts';

export interface KnownAnswer {
  /** Status line and fields up to those of the connection. */
  readonly head: string;
  readonly body: FileBody;
}

export interface KnownAnswers {
  /**
   * @param text of a piece that may be a request
   * @param view what is served now
   */
  find(text: string, view: SiteView | undefined): KnownAnswer | undefined;
  /** @param text of `request`, which was read strictly, and which `answer` was just planned for */
  remember(text: string, request: PlainRequest, answer: KnownAnswer): void;
}

/** Of each of two generations: texts of a site of 5,000 files, in one form. */
const mostBytes = 4 * 1024 * 1024;
/** Besides the characters. */
const bytesOfOne = 300;
const longestTarget = 256;
/** Fields of different clients. Ones of a client that sends new ones each time are forgotten with the others. */
const mostFields = 64;
const longestFields = 2048;

type ByTarget = Map<string, KnownAnswer>;

const method = 'GET ';
const protocol = ' HTTP/1.1\r\n';

/** @param limitBytes of each of two generations */
export function createKnownAnswers(limitBytes = mostBytes): KnownAnswers {
  /** A client's field lines, to the forms that it accepts. */
  let formsByFields = new Map<string, readonly FileForm[]>();
  let recent = createGeneration();
  let older = createGeneration();
  let decidedFor: SiteView | undefined;
  let variants: VariantTable | undefined;

  const isCurrent = (view: SiteView): boolean =>
    view === decidedFor && view.active.bundle.variants() === variants;

  const startAgain = (view: SiteView): void => {
    recent = createGeneration();
    older = createGeneration();
    decidedFor = view;
    variants = view.active.bundle.variants();
  };

  const add = (forms: readonly FileForm[], target: string, answer: KnownAnswer): void => {
    recent.add(forms, target, answer);
    if (recent.bytes() < limitBytes) return;
    older = recent;
    recent = createGeneration();
  };

  return {
    find: (text, view) => {
      if (view === undefined) return undefined;
      if (!isCurrent(view)) {
        startAgain(view);
        return undefined;
      }
      const targetEnd = text.indexOf(protocol);
      if (targetEnd < 0 || !text.startsWith(method)) return undefined;
      const forms = formsByFields.get(text.slice(targetEnd + protocol.length));
      if (forms === undefined) return undefined;
      const target = text.slice(method.length, targetEnd);
      const answer = recent.find(forms, target);
      if (answer !== undefined) return answer;
      const former = older.find(forms, target);
      if (former !== undefined) add(forms, ownCopy(target), former);
      return former;
    },
    remember: (text, request, answer) => {
      if (!isRepeatable(request) || request.target.length > longestTarget) return;
      // A former bundle's asset: its variants are not watched.
      if (answer.body.route.digest !== decidedFor?.active.bundle.digest) return;
      const fields = text.slice(text.indexOf(protocol) + protocol.length);
      if (fields.length > longestFields) return;
      const forms = acceptedForms(request.acceptEncoding);
      if (!formsByFields.has(fields)) {
        if (formsByFields.size >= mostFields) formsByFields = new Map();
        formsByFields.set(ownCopy(fields), forms);
      }
      add(forms, ownCopy(request.target), { ...answer, head: ownCopy(answer.head) });
    },
  };
}

interface Generation {
  find(forms: readonly FileForm[], target: string): KnownAnswer | undefined;
  add(forms: readonly FileForm[], target: string, answer: KnownAnswer): void;
  readonly bytes: () => number;
}

function createGeneration(): Generation {
  const byForms = new Map<readonly FileForm[], ByTarget>();
  let bytes = 0;
  return {
    find: (forms, target) => byForms.get(forms)?.get(target),
    add: (forms, target, answer) => {
      let answers = byForms.get(forms);
      if (answers === undefined) {
        answers = new Map();
        byForms.set(forms, answers);
      }
      answers.set(target, answer);
      bytes += bytesOfOne + target.length + answer.head.length;
    },
    bytes: () => bytes,
  };
}

/** Those that are kept differ in the forms that they accept alone. */
function isRepeatable(request: PlainRequest): boolean {
  const { method, target, accept, ifMatch, ifNoneMatch, range, ifRange } = request;
  const isConditional = ifMatch ?? ifNoneMatch ?? range ?? ifRange;
  const isPlain = method === 'GET' && isConditional === undefined && !target.includes('?');
  return isPlain && !prefersMarkdown(accept);
}

/** Without the text that it was cut from, or the parts that it was joined from: both would stay in memory. */
function ownCopy(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}
