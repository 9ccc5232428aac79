// The report as one HTML file: the parts of the Markdown form, as cards. No script, nothing that is loaded, readable on a
// phone, in light and in dark. Refuses, by a policy in the page itself, everything but its own style. Invariant: text of
// others only gets into the page through `escaped`.

import { type ReportPart, reportParts, type Words } from './report-parts.ts';
import type { GapReport } from './report-schema.ts';
import { day, shownInLine } from './words.ts';

/** Markup, as distinct from text. */
type Html = string;
type Table = Extract<ReportPart, { readonly kind: 'table' }>;

const policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

export function htmlReport(report: GapReport): string {
  const [head = [], ...sections] = sectionsOf(reportParts(report));
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width,initial-scale=1"><meta name="robots" content="noindex"><meta name="referrer" content="no-referrer">
<title>Documentation gaps</title><style>${style}</style></head>
<body><main>
<header>${head.map(partHtml).join('\n')}</header>
${sections.map((parts) => `<section>${parts.map(partHtml).join('\n')}</section>\n`).join('')}<footer>Made ${day(report.generatedTime)}</footer>
</main></body></html>
`;
}

/** A section starts with its heading. */
function sectionsOf(parts: readonly ReportPart[]): readonly (readonly ReportPart[])[] {
  const starts = parts.flatMap(({ kind }, at) => (kind === 'heading' ? [at] : []));
  return starts.map((start, at) => parts.slice(start, starts[at + 1]));
}

function partHtml(part: ReportPart): Html {
  switch (part.kind) {
    case 'heading':
      return `<h${part.level}>${part.text}</h${part.level}>`;
    case 'text':
      return `<p>${wordsHtml(part.text)}</p>`;
    case 'list':
      return `<ul>${part.items.map((item) => `<li>${itemHtml(item)}</li>`).join('')}</ul>`;
    case 'table':
      return tableHtml(part);
    default:
      return part satisfies never;
  }
}

/** The name of a number is small, and the number large. */
function itemHtml(item: Words): Html {
  const html = wordsHtml(item);
  const [, name, value] = /^([^:.]+): (.+)$/s.exec(html) ?? [];
  return name === undefined ? html : `<span>${name}</span><b>${value}</b>`;
}

/** On a phone, a row is a card, and each cell has its title in front. */
function tableHtml({ columns, rows }: Table): Html {
  const head = columns.map(
    ({ title, isNumeric }) => `<th scope="col"${isNumeric ? ' class="number"' : ''}>${title}</th>`,
  );
  const body = rows.map((row) =>
    row
      .map((cell, at) => {
        const { title = '', isNumeric = false } = columns[at] ?? {};
        const share = typeof cell === 'string' ? /^(\d{1,3}) %$/.exec(cell)?.[1] : undefined;
        const bar = share === undefined ? '' : ` style="--share:${share}%"`;
        const html = wordsHtml(cell);
        const shownCell = title === 'State' ? `<mark class="${stateClass(html)}">${html}</mark>` : html;
        return `<td data-title="${title}" class="${cellClass(title, isNumeric, share)}"${bar}>${shownCell}</td>`;
      })
      .join(''),
  );
  return `<table><thead><tr>${head.join('')}</tr></thead><tbody>
${body.map((cells) => `<tr>${cells}</tr>\n`).join('')}</tbody></table>`;
}

/** Of "Open, new": `open new`. */
const stateClass = (state: string): string => state.toLowerCase().replaceAll(',', '').replaceAll(' ', '-');

const cellClass = (title: string, isNumeric: boolean, share: string | undefined): string =>
  [title === 'Id' ? 'id' : '', isNumeric ? 'number' : '', share === undefined ? '' : 'share']
    .filter((name) => name !== '')
    .join(' ');

function wordsHtml(words: Words): Html {
  if (typeof words === 'string') return escaped(words);
  return 'quoted' in words
    ? `<bdi>${escaped(shownInLine(words.quoted))}</bdi>`
    : words.map(wordsHtml).join('');
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

const escaped = (text: string): Html => text.replace(/[&<>"]/g, (character) => entities[character] ?? '');

const style = `
:root{color-scheme:light dark;--bg:#f7f7f5;--card:#fff;--ink:#1b1d22;--soft:#5d6470;--line:#e4e4df;--track:#ecece7;
--hot:#d1451b;--warm:#fbe4da;--hot-ink:#a8330f;--good:#1f7a4d;--good-bg:#e2f3ea;--wait:#8a6100;--wait-bg:#fbf0d4}
@media (prefers-color-scheme:dark){:root{--bg:#14161a;--card:#1c1f25;--ink:#e9eaed;--soft:#9ba3b0;--line:#2c3038;--track:#2a2e36;
--hot:#ff7a4d;--warm:#3a231b;--hot-ink:#ff9a77;--good:#63cf9a;--good-bg:#17332a;--wait:#e8bf5c;--wait-bg:#382d14}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;-webkit-text-size-adjust:100%}
main{max-width:1120px;margin:0 auto;padding:40px 24px 48px}
h1{font-size:30px;line-height:1.2;letter-spacing:-.02em;margin:0}
h2{font-size:17px;letter-spacing:-.01em;margin:0 0 14px}
p{margin:6px 0 0;color:var(--soft)}
bdi{overflow-wrap:anywhere}
header ul{display:flex;flex-wrap:wrap;gap:1px;list-style:none;margin:24px 0 18px;padding:0;background:var(--card);border:1px solid var(--line);border-radius:14px;overflow:hidden}
header li{flex:1 0 200px;padding:16px 18px;box-shadow:0 0 0 1px var(--line)}
header li span{display:block;color:var(--soft);font-size:13px}
header li span::first-letter{text-transform:uppercase}
header li b{font-size:22px;font-weight:640;letter-spacing:-.01em;overflow-wrap:anywhere}
section{background:var(--card);border:1px solid var(--line);border-radius:14px;padding:22px 24px;margin:0 0 18px}
section ul{margin:0;padding-left:18px;color:var(--soft);font-size:13px}
section p{font-size:13px}
table{width:100%;border-collapse:collapse;font-variant-numeric:tabular-nums}
th{font-size:13px;font-weight:400;color:var(--soft);text-align:left;white-space:nowrap}
th,td{padding:9px 14px 9px 0;vertical-align:top}
tbody tr{border-top:1px solid var(--line)}
th:last-child,td:last-child{padding-right:0}
.number{text-align:right;white-space:nowrap}
td[data-title=Gap],td[data-title=Question]{font-weight:560}
td[data-title=Why],td[data-title=Pages]{color:var(--soft);font-size:14px}
.id{white-space:nowrap;font:12px/1.9 ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;color:var(--soft);text-align:right}
.share{width:150px;background:linear-gradient(var(--hot),var(--hot)) 0 24px/var(--share) 4px no-repeat content-box,linear-gradient(var(--track),var(--track)) 0 24px/100% 4px no-repeat content-box;line-height:28px;padding-top:6px;padding-bottom:6px}
mark{white-space:nowrap;font-size:13px;border-radius:99px;padding:2px 10px;background:var(--warm);color:var(--hot-ink)}
mark.closed{background:var(--good-bg);color:var(--good)}
mark.too-few-turns{background:var(--wait-bg);color:var(--wait)}
@media (max-width:720px){main{padding:24px 14px}section{padding:18px 16px}thead{display:none}tbody tr{display:block;padding:10px 0}
td{display:flex;justify-content:space-between;gap:16px;padding:3px 0;text-align:right;width:auto}td::before{content:attr(data-title);color:var(--soft);font:13px/1.7 system-ui,sans-serif;flex:none}
td.share{width:auto}td:has(bdi:only-child:empty){display:none}header li{flex-basis:150px}header li b{font-size:18px}}
footer{color:var(--soft);font-size:13px;text-align:center}
`;
