// The shells that can complete commands. Owns their names, as users type them. Refuses: their scripts, which `--help` does
// not need.

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];
