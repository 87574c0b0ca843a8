import { gunzipSync, gzipSync } from 'node:zlib';

/** A large text that is rarely asked for, kept in a tenth of its room. */
export class Packed {
  private readonly bytes: Buffer;

  constructor(content: string | Uint8Array) {
    this.bytes = gzipSync(content);
  }

  unpack(): Buffer {
    return gunzipSync(this.bytes);
  }
}
