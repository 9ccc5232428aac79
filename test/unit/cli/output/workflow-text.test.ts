// A line of foreign text is no command to the runner of a pipeline.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutWorkflowCommand } from '#cli/output/workflow-text.ts';

test('what a runner takes for a command is broken, and other text stays', () => {
  const rows = [
    ['A ##vso[task.setvariable variable=x]y', 'A #\\#vso[task.setvariable variable=x]y'],
    ['A ###[error]forged', 'A #\\#\\#[error]forged'],
    ['####vso[a]b', '#\\#\\#\\#vso[a]b'],
    ['::error::x', ':\\:error::x'.replace(':\\:', '\\::')],
    ['  ::set-output name=x::y', '  \\::set-output name=x::y'],
    ['M guide/a.html', 'M guide/a.html'],
  ];
  for (const [text = '', safe] of rows) assert.equal(withoutWorkflowCommand(text), safe);
});
