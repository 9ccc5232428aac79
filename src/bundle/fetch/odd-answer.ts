// What a link returned instead of an archive: a page, a text, nothing, or a redirect elsewhere. A storage in
// maintenance, a proxy or a resolver may answer so once; it is not a verdict on the archive. Invariant: always
// transient, so that it is remembered no longer than a back-off. No sentence quotes the answer. README.md of this
// folder lists each answer, and a test compares the two lists.

import { BundleError } from '../bundle-error.ts';

const sentences = {
  // where the link leads
  PrivateLink:
    'the link leads to a loopback, link-local or private address; give --allow-private-links if this is meant',
  TooManyRedirects: 'the link redirects too often',
  InvalidRedirect: 'the link redirects to nowhere, to another scheme, or from https to http',
  // what came
  EmptyArchive: 'the download is empty',
  HtmlInsteadOfArchive: 'the download is an HTML page instead of an archive',
  XmlInsteadOfArchive: 'the download is an XML document instead of an archive',
  UnknownArchiveType: 'the download is none of tar, tar.gz, tar.zst and zip',
} as const;

export type OddAnswerCode = keyof typeof sentences;

export const oddAnswerCodes: readonly string[] = Object.keys(sentences);

/** Transient: the same link may lead to the archive later. */
export function oddAnswer(code: OddAnswerCode): BundleError {
  return new BundleError('transient', code, `${sentences[code]}; it will be tried again`);
}
