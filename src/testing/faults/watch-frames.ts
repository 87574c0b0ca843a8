const LINE_END = 10;

/**
 * Takes the body of a watch apart into events. Events of JSON are lines; in any other form (protobuf) what arrived together is one
 * piece.
 */
export class WatchFrames {
  private rest: Buffer = Buffer.alloc(0);

  constructor(private readonly isJson: boolean) {}

  /** The events that are complete with this chunk, each with its end. */
  take(chunk: Buffer): Buffer[] {
    if (!this.isJson) return [chunk];
    const text = Buffer.concat([this.rest, chunk]);
    const frames: Buffer[] = [];
    let from = 0;
    for (let end = text.indexOf(LINE_END); end >= 0; end = text.indexOf(LINE_END, from)) {
      frames.push(text.subarray(from, end + 1));
      from = end + 1;
    }
    this.rest = text.subarray(from);
    return frames;
  }
}

/** Whether it is the bookmark that ends the objects which a watch began with (KEP-3157). */
export function endsInitialEvents(frame: Buffer): boolean {
  return frame.includes('"k8s.io/initial-events-end":"true"');
}
