// Reports failures in full and, of what passed, one line a file with its count; then node's own closing lines.
// Thousands of green lines hide the red one.

import { relative } from 'node:path';
import { Readable } from 'node:stream';
import { spec, type TestEvent } from 'node:test/reporters';

export default async function* report(source: AsyncIterable<TestEvent>): AsyncIterable<string> {
  const passed = new Map<string, number>();
  async function* interesting(): AsyncIterable<TestEvent> {
    for await (const event of source) {
      if (event.type === 'test:pass') {
        const file = event.data.file ?? '';
        if (event.data.details.type !== 'suite') passed.set(file, (passed.get(file) ?? 0) + 1);
        continue;
      }
      if (event.type !== 'test:start' && event.type !== 'test:dequeue' && event.type !== 'test:enqueue')
        yield event;
    }
  }
  yield* Readable.from(interesting()).compose(new spec());
  const lines = [...passed]
    .sort()
    .map(([file, count]) => `${String(count).padStart(5)}  ${relative(process.cwd(), file)}`);
  yield `${lines.join('\n')}\n`;
}
