// What a Markdown text holds, by a reader of its own: micromark, which follows CommonMark and GFM to the letter. Texts are compared
// without blanks, because HTML and Markdown break lines in their own ways.

import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import { type Content, withoutBlanks } from './content.ts';

interface MarkdownNode {
  readonly type: string;
  readonly value?: string;
  readonly lang?: string | null | undefined;
  readonly depth?: number;
  readonly url?: string;
  readonly children?: readonly MarkdownNode[];
}

export function readMarkdown(markdown: string): Content {
  const root: MarkdownNode = fromMarkdown(markdown, {
    extensions: [gfm()],
    mdastExtensions: [gfmFromMarkdown()],
  });
  const nodes = [...nodesOf(root)];
  const all = (type: string): readonly MarkdownNode[] => nodes.filter((node) => node.type === type);
  return {
    headings: all('heading').map((node) => `${node.depth} ${textOf(node)}`),
    code: all('code').map(({ lang, value = '' }) => `${lang ?? ''}\n${value.trimEnd()}`),
    tables: all('table').map(({ children = [] }) =>
      JSON.stringify(children.map((row) => (row.children ?? []).map(textOf).filter((cell) => cell !== ''))),
    ),
    links: all('link').map((node) => `${node.url} ${textOf(node)}`),
    text: textOf(root),
  };
}

function* nodesOf(node: MarkdownNode): Generator<MarkdownNode> {
  const stack = [node];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    yield next;
    stack.push(...(next.children ?? []).toReversed());
  }
}

function textOf(root: MarkdownNode): string {
  const texts = [...nodesOf(root)].map(({ type, value = '' }) =>
    type === 'html' ? value.replace(/<br\s*\/?>/g, '') : value,
  );
  return withoutBlanks(texts.join(''));
}
