import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AnswerReader } from '../../bench/api/answer-reader.js';

const LENGTH = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello';
const CHUNKS =
  'HTTP/1.1 201 Created\r\ntransfer-encoding: chunked\r\n\r\n3\r\nhel\r\n0b;x=y\r\nlo\r\n\r\nworld\r\n0\r\nTrailer: t\r\n\r\n';
const EMPTY = 'HTTP/1.1 409 Conflict\r\nContent-Length: 0\r\n\r\n';
const NO_BODY = 'HTTP/1.1 304 Not Modified\r\n\r\n';

describe('the load generator’s reader of answers', () => {
  it('finds the end of every answer, wherever packets end', () => {
    const wire = Buffer.from([LENGTH, CHUNKS, EMPTY, NO_BODY, LENGTH].join(''));
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 200 }), (sizes) => {
        const answers: [number, string][] = [];
        let body = '';
        const reader = new AnswerReader((status) => {
          answers.push([status, body]);
          body = '';
        });
        reader.onBody = (part) => (body += part.toString());
        for (let at = 0; at < wire.length;) {
          const size = sizes.shift() ?? wire.length;
          reader.read(wire.subarray(at, (at += size)));
        }
        expect(answers).toEqual([
          [200, 'hello'],
          [201, 'hello\r\n\r\nworld'],
          [409, ''],
          [304, ''],
          [200, 'hello'],
        ]);
      }),
    );
  });

  it('refuses an answer of which nothing tells the end', () => {
    const reader = new AnswerReader();
    expect(() => reader.read(Buffer.from('HTTP/1.1 200 OK\r\n\r\n'))).toThrow('nothing tells the end');
  });
});
