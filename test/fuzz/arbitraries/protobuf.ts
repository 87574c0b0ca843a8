import fc from 'fast-check';

const MAGIC = Buffer.from('k8s\0');

/** Any bytes that look a little like a message. */
const fields: fc.Arbitrary<Buffer> = fc
  .array(
    fc.tuple(
      fc.oneof(fc.integer({ min: 0, max: 20 }), fc.nat(2 ** 29 - 1)),
      fc.nat(7),
      fc.oneof(fc.uint8Array({ maxLength: 20 }), fc.constant(new Uint8Array([0xff, 0xff, 0xff, 0xff, 0x0f]))),
      fc.boolean(),
    ),
    { maxLength: 8 },
  )
  .map((parts) => Buffer.concat(parts.map((part) => fieldOf(...part))));

function fieldOf(number: number, wireType: number, content: Uint8Array, isLengthRight: boolean): Buffer {
  const tag = varint(number * 8 + wireType);
  if (wireType !== 2) return Buffer.concat([tag, content]);
  return Buffer.concat([tag, varint(isLengthRight ? content.length : content.length * 7 + 1), content]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push((rest % 128) | 128);
  }
}

function text(field: number, content: Buffer | string): Buffer {
  const bytes = Buffer.from(content);
  return Buffer.concat([varint(field * 8 + 2), varint(bytes.length), bytes]);
}

/** Bodies in the protobuf encoding, about kinds that the server has. */
export function protobufBodies(kinds: readonly { apiVersion: string; kind: string }[]): fc.Arbitrary<Buffer> {
  const nested = fields.chain((inner) =>
    fc
      .tuple(fc.integer({ min: 1, max: 4 }), fields)
      .map(([number, rest]) => Buffer.concat([text(number, inner), rest])),
  );
  const enveloped = fc
    .tuple(fc.constantFrom(...kinds), fc.oneof(nested, fields))
    .map(([{ apiVersion, kind }, raw]) =>
      Buffer.concat([MAGIC, text(1, Buffer.concat([text(1, apiVersion), text(2, kind)])), text(2, raw)]),
    );
  return fc.oneof(
    { weight: 6, arbitrary: enveloped },
    { weight: 1, arbitrary: fields.map((raw) => Buffer.concat([MAGIC, raw])) },
    { weight: 1, arbitrary: fields },
  );
}
