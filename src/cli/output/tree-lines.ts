// Text for a terminal of 80 columns: sentences in lines, and nodes as a tree. Pure. Refuses: breaking a word, because a
// name that is cut cannot be copied.

export interface TreeNode {
  readonly text: string;
  readonly children: readonly TreeNode[];
}

export const terminalWidth = 80;

/** The tree, a line or more for each node; the lines of a long text are joined by its guide. */
export function drawTree({ text, children }: TreeNode, width = terminalWidth): readonly string[] {
  const [first = '', ...more] = wrapText(text, width - 5);
  const guide = children.length > 0 ? '│    ' : '     ';
  return [first, ...more.map((line) => `${guide}${line}`), ...drawChildren(children, width)];
}

function drawChildren(children: readonly TreeNode[], width: number): readonly string[] {
  return children.flatMap((child, at) => {
    const isLast = at === children.length - 1;
    const hasOwn = child.children.length > 0;
    const [first = '', ...more] = wrapText(child.text, width - 5);
    const guide = isLast ? '   ' : '│  ';
    return [
      `${isLast ? '└─ ' : '├─ '}${first}`,
      ...more.map((line) => `${guide}${hasOwn ? '│ ' : '  '}${line}`),
      ...drawChildren(child.children, width - 3).map((line) => `${guide}${line}`),
    ];
  });
}

/** Lines of at most `width` characters, unless a word is longer. */
export function wrapText(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
