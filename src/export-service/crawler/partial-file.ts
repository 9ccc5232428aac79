// The name of an archive that is not complete yet. The pack writes under it. If a thread ends in the middle, its
// starter removes the file without loading the packing code. Owns nothing else.

export const partialFile = (destination: string): string => `${destination}.partial`;
