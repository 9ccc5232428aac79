// The name of an archive that is not whole yet. Owns nothing else: the pack writes under it, and the driver of a thread
// that ended in the middle removes it, without loading what packs.

export const partialFile = (destination: string): string => `${destination}.partial`;
