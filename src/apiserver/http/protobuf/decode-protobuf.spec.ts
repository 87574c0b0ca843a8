import { describe, expect, it } from 'vitest';
import { stringifyJson } from '../../../machinery/kubernetes/index.js';
import { createSchemaRegistry } from '../../schema/index.js';
import { decodeProtobuf } from './decode-protobuf.js';

const schemas = createSchemaRegistry();

function decode(body: Buffer, schema: string): Record<string, unknown> {
  return decodeProtobuf(body, { schemas, schema: `io.k8s.api.${schema}` });
}

/** Length-delimited field. */
function bytes(field: number, content: Buffer | string): Buffer {
  const body = Buffer.from(content);
  return Buffer.concat([varint((field << 3) | 2), varint(body.length), body]);
}

function varint(value: number): Buffer {
  const out: number[] = [];
  let rest = value;
  while (rest > 127) {
    out.push((rest & 127) | 128);
    rest >>>= 7;
  }
  return Buffer.from([...out, rest]);
}

function int64(value: bigint): Buffer {
  const out: number[] = [];
  let rest = BigInt.asUintN(64, value);
  for (; rest > 127n; rest >>= 7n) out.push(Number(rest & 127n) | 128);
  return Buffer.from([...out, Number(rest)]);
}

function envelope(apiVersion: string, kind: string, message: Buffer): Buffer {
  const type = Buffer.concat([bytes(1, apiVersion), bytes(2, kind)]);
  return Buffer.concat([Buffer.from('k8s\0'), bytes(1, type), bytes(2, message), bytes(3, ''), bytes(4, '')]);
}

describe('decodeProtobuf', () => {
  it('reads what kubectl create namespace sends, recorded', () => {
    const recorded =
      'k8s\u0000\n\u000f\n\u0002v1\u0012\tNamespace\u0012\u001c\n\u0014\n\u0004demo\u0012\u0000\u001a\u0000"\u0000*\u00002\u00008\u0000B\u0000\u0012\u0000\u001a\u0002\n\u0000\u001a\u0000"\u0000';
    expect(decode(Buffer.from(recorded, 'latin1'), 'core.v1.Namespace')).toMatchObject({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'demo' },
      spec: {},
    });
  });

  it('reads bytes, raw JSON, times, and properties that are written into their owner', () => {
    const entry = Buffer.concat([bytes(1, 'key'), bytes(2, 'value')]);
    expect(decode(envelope('v1', 'Secret', bytes(2, entry)), 'core.v1.Secret')).toMatchObject({
      data: { key: 'dmFsdWU=' },
    });
    const revision = bytes(2, bytes(1, '{"a":1}'));
    expect(
      decode(envelope('apps/v1', 'ControllerRevision', revision), 'apps.v1.ControllerRevision').data,
    ).toEqual({ a: 1 });
    const micro = Buffer.concat([Buffer.from([1 << 3]), varint(1), Buffer.from([2 << 3]), varint(5000)]);
    expect(
      decode(envelope('coordination.k8s.io/v1', 'Lease', bytes(2, bytes(3, micro))), 'coordination.v1.Lease')
        .spec,
    ).toEqual({ acquireTime: '1970-01-01T00:00:01.000005Z' });
    const volume = Buffer.concat([bytes(1, 'v'), bytes(2, bytes(2, ''))]);
    expect(decode(envelope('v1', 'Pod', bytes(2, bytes(1, volume))), 'core.v1.Pod').spec).toEqual({
      volumes: [{ name: 'v', emptyDir: {} }],
    });
  });

  it.each([
    ['30', 30n],
    ['-1', -1n],
    ['9007199254740993', 9007199254740993n],
    ['9223372036854775807', 2n ** 63n - 1n],
    ['-9223372036854775808', -(2n ** 63n)],
  ])('reads an int64 of %s to the last digit', (text, value) => {
    const pod = bytes(2, Buffer.concat([Buffer.from([4 << 3]), int64(value)]));
    expect(stringifyJson(decode(envelope('v1', 'Pod', pod), 'core.v1.Pod'))).toContain(
      `"terminationGracePeriodSeconds":${text}}`,
    );
  });

  it('does not take a field for empty that only ends in zeros', () => {
    const spec = bytes(2, Buffer.concat([varint(99 << 3), int64(2n ** 32n)]));
    expect(() => decode(envelope('v1', 'Pod', spec), 'core.v1.Pod')).toThrow('field 99 of PodSpec');
  });

  it('reads maps, lists, and numbers that may be text', () => {
    const label = Buffer.concat([bytes(1, 'app'), bytes(2, 'web')]);
    const percent = Buffer.concat([Buffer.from([1 << 3, 1]), bytes(3, '25%')]);
    const strategy = Buffer.concat([bytes(1, 'RollingUpdate'), bytes(2, bytes(2, percent))]);
    const container = Buffer.concat([bytes(1, 'c'), bytes(3, 'run'), bytes(3, '')]);
    const template = Buffer.concat([bytes(1, bytes(11, label)), bytes(2, bytes(2, container))]);
    const message = bytes(2, Buffer.concat([bytes(3, template), bytes(4, strategy)]));
    expect(decode(envelope('apps/v1', 'Deployment', message), 'apps.v1.Deployment').spec).toEqual({
      template: {
        metadata: { labels: { app: 'web' } },
        spec: { containers: [{ name: 'c', command: ['run', ''] }] },
      },
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%' } },
    });
  });

  it.each([
    ['a kind', envelope('x/v1', 'X', Buffer.alloc(0)), 'io.example.X', 'X is not supported in this encoding'],
    [
      'a field',
      envelope('v1', 'Namespace', bytes(9, 'x')),
      'core.v1.Namespace',
      'field 9 of Namespace is not supported in this encoding',
    ],
  ])('names %s that it has not got', (_what, body, schema, words) => {
    expect(() => decode(body, schema)).toThrow(words);
  });

  it('refuses bytes that are none, and a message that is cut short', () => {
    expect(() => decode(Buffer.from('{"a":1}'), 'core.v1.Pod')).toThrow(/expected prefix/);
    expect(() => decode(Buffer.from('k8s\0\n\u0040abc'), 'core.v1.Pod')).toThrow(/unexpected EOF/);
  });
});
