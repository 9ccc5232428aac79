// What a browser found in the pages of a site, for a person. Owns the words that `bundle check` and `bundle inspect --report`
// share.

import type { BrowserReport } from '#bundle/site-report.ts';
import { counted } from '../output/amounts.ts';

/** @returns no line where no browser opened the site */
export function browserLines(browser: BrowserReport | undefined): readonly string[] {
  if (browser === undefined) return [];
  const { pages, notOpened, offSiteRequests, consoleErrors } = browser;
  const section = (
    title: string,
    count: number,
    entries: readonly { readonly text: string; readonly from: string; readonly pages: number }[],
  ): readonly string[] => [
    `${title}: ${count === 0 ? 'none' : count}`,
    ...entries.map(({ text, from, pages: on }) => {
      const more = on === 1 ? '' : ` and ${counted(on - 1, 'more page')}`;
      return `  ${text} (from ${from}${more})`;
    }),
    ...(count > entries.length ? [`  and ${count - entries.length} more`] : []),
  ];
  return [
    `Opened in a browser: ${counted(pages, 'page')}${notOpened === 0 ? '' : `, and ${notOpened} not for lack of time`}`,
    ...section(
      'Requests to other hosts',
      offSiteRequests.count,
      offSiteRequests.entries.map(({ address, ...rest }) => ({ text: address, ...rest })),
    ),
    ...section(
      'Errors in the browser',
      consoleErrors.count,
      consoleErrors.entries.map(({ message, ...rest }) => ({ text: message, ...rest })),
    ),
  ];
}
