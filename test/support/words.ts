// Lists of words in tests: names, paths and flags that stand in one text, where a list takes a line for each.

/** @param text words between any white space */
export const words = (text: string): string[] => text.trim().split(/\s+/);
