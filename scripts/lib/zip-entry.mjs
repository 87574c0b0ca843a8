// One file out of a ZIP archive.
import { inflateRawSync } from 'node:zlib';

const END = 0x06054b50;
const CENTRAL = 0x02014b50;

/** @throws Error when the archive has no such file */
export function readZipEntry(archive, name) {
  const end = archive.lastIndexOf(Buffer.from([0x50, 0x4b, 0x05, 0x06]));
  if (end < 0 || archive.readUInt32LE(end) !== END) throw new Error('this is no ZIP archive');
  let at = archive.readUInt32LE(end + 16);
  while (archive.readUInt32LE(at) === CENTRAL) {
    const nameLength = archive.readUInt16LE(at + 28);
    if (archive.toString('utf8', at + 46, at + 46 + nameLength) === name) {
      const size = archive.readUInt32LE(at + 20);
      const local = archive.readUInt32LE(at + 42);
      const start = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
      const bytes = archive.subarray(start, start + size);
      return archive.readUInt16LE(at + 10) === 0 ? bytes : inflateRawSync(bytes);
    }
    at += 46 + nameLength + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
  }
  throw new Error(`the archive has no ${name}`);
}
