// Text of others, such as the name of a file, in a line that a pipeline's runner reads. Refuses: a line that the runner
// would take for a command of its own.

/** Runners of pipelines take `##[…]`, `##vso[…]` and a leading `::…` for commands, also in the name of a file. */
export function withoutWorkflowCommand(line: string): string {
  return line.replace(/#(?=#)/g, '#\\').replace(/^(\s*):(?=:)/, '$1\\:');
}
