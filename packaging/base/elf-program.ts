// A program in the ELF format, without what is never loaded: names and debug information, at the end of the file. Pure, and the
// same for every architecture. Refuses what is not a 64-bit little-endian ELF file.

const headerBytes = 64;

/**
 * What the kernel and the loader read of a program, byte for byte: everything up to the end of the last segment. The table of
 * sections goes, as with `strip --strip-section-headers` of binutils; a trace of a crash still has the exported names.
 * @see ELF-64 object file format, version 1.5, "File header" and "Program header table"
 * @throws Error for another format
 */
export function cutSections(program: Buffer): Buffer {
  const isElf64 = program.length >= headerBytes && program.readUInt32BE(0) === 0x7f454c46;
  if (!isElf64 || program[4] !== 2 || program[5] !== 1) {
    throw new Error('The program of Node is not a 64-bit little-endian ELF file. Check the package.');
  }
  const tableAt = Number(program.readBigUInt64LE(32));
  const [entryBytes, entries] = [program.readUInt16LE(54), program.readUInt16LE(56)];
  let end = Math.max(headerBytes, tableAt + entryBytes * entries);
  for (let entry = 0; entry < entries; entry += 1) {
    const at = tableAt + entry * entryBytes;
    end = Math.max(end, Number(program.readBigUInt64LE(at + 8) + program.readBigUInt64LE(at + 32)));
  }
  if (end > program.length) throw new Error('The program of Node is cut off. Check the package.');
  const cut = Buffer.from(program.subarray(0, end));
  cut.writeBigUInt64LE(0n, 40);
  cut.writeUInt16LE(0, 60);
  cut.writeUInt16LE(0, 62);
  return cut;
}
