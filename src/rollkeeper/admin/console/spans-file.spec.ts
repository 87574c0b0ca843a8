import { describe, expect, it } from 'vitest';

const PAGE_SCRIPT = new URL('public/spans-file.js', import.meta.url).href;
const { tracesIn } = (await import(PAGE_SCRIPT)) as {
  readonly tracesIn: (text: string) => readonly Record<string, unknown>[];
};

const text = (value: string) => ({ stringValue: value });
const aSpan = (traceId: string, spanId: string, startMs: number, more: object = {}): object => ({
  ...{ traceId, spanId, name: `span ${spanId}` },
  startTimeUnixNano: `${startMs}000000`,
  endTimeUnixNano: `${startMs + 2}500000`,
  ...more,
});
const aDocument = (...spans: readonly object[]): object => ({
  resourceSpans: [
    {
      resource: { attributes: [{ key: 'service.instance.id', value: text('replica-1') }] },
      scopeSpans: [{ scope: {}, spans }],
    },
  ],
});

describe('the spans of a file', () => {
  it('are traces, the earliest first, each named after its first span', () => {
    const key = { attributes: [{ key: 'k8s.object.key', value: text('default/web') }] };
    const document = aDocument(
      aSpan('later', 'c', 1_800_000_000_500),
      aSpan('early', 'b', 1_800_000_000_010, { parentSpanId: 'a', status: { code: 2, message: 'refused' } }),
      aSpan('early', 'a', 1_800_000_000_000, key),
    );
    expect(tracesIn(JSON.stringify(document, undefined, 2))).toMatchObject([
      {
        ...{ id: 'early', name: 'span a', object: 'default/web', failed: true, durationMs: 12.5 },
        spans: [
          { spanId: 'a', replica: 'replica-1', startMs: 1_800_000_000_000, durationMs: 2.5, failed: false },
          { spanId: 'b', parentId: 'a', failed: true, error: 'refused' },
        ],
      },
      { id: 'later', name: 'span c', object: '', failed: false },
    ]);
  });

  it('have the values of their attributes and events', () => {
    const attributes = [
      { key: 'count', value: { intValue: '3' } },
      { key: 'share', value: { doubleValue: 0.5 } },
      { key: 'is', value: { boolValue: false } },
      { key: 'names', value: { arrayValue: { values: [text('a'), text('b')] } } },
    ];
    const values = { count: 3, share: 0.5, is: false, names: ['a', 'b'] };
    const events = [{ name: 'create pods', timeUnixNano: '1800000000000250000', attributes }];
    const [trace] = tracesIn(
      JSON.stringify(aDocument(aSpan('t', 'a', 1_800_000_000_000, { attributes, events }))),
    );
    expect(trace).toMatchObject({
      spans: [
        {
          attributes: values,
          events: [{ name: 'create pods', atMs: 1_800_000_000_000.25, attributes: values }],
        },
      ],
    });
  });

  it('may be one document for each line', () => {
    const lines = [aDocument(aSpan('a', '1', 1)), aDocument(aSpan('b', '2', 2))].map((each) =>
      JSON.stringify(each),
    );
    expect(tracesIn(`${lines.join('\n')}\n`)).toHaveLength(2);
  });

  it.each(['', 'a log', '{}', '[1]', 'null', '{"resourceSpans":[]}\nno more'])('are not in %j', (given) => {
    expect(() => tracesIn(given)).toThrow('This file has no spans');
  });

  it('are strings and finite numbers, whatever the file has in their place', () => {
    const evil = { _$litType$: 1, strings: ['<script>'], toString: 1 };
    const attributes = [
      { key: 'rollkeeper.took_ms', value: text('5') },
      { key: 'k8s.object.key', value: { stringValue: evil } },
      { key: 'deep', value: nestedLists(500) },
      { key: 'many', value: { intValue: '9'.repeat(400) } },
    ];
    const more = {
      attributes,
      events: [{ name: evil }],
      parentSpanId: evil,
      status: { code: 2, message: evil },
    };
    const [trace] = tracesIn(JSON.stringify(aDocument(aSpan('t', 'a', 1, { name: evil, ...more }))));
    expect(trace).toMatchObject({
      ...{ name: '', object: '' },
      spans: [
        {
          parentId: '',
          error: '',
          attributes: { 'k8s.object.key': '', many: undefined },
          events: [{ name: '' }],
        },
      ],
    });
    expect(trace).not.toHaveProperty(['spans', 0, 'attributes', 'rollkeeper.took_ms']);
    expect(JSON.stringify(trace).length).toBeLessThan(1000);
  });

  it.each(['9'.repeat(21), '-1', '1.5', 'soon', {}, []])('are not in a file with the time %j', (time) => {
    const document = aDocument(aSpan('t', 'a', 1, { startTimeUnixNano: time }));
    expect(() => tracesIn(JSON.stringify(document))).toThrow('This file has no spans');
  });

  it('have texts of bounded length', () => {
    const [trace] = tracesIn(JSON.stringify(aDocument(aSpan('t', 'a', 1, { name: 'x'.repeat(5000) }))));
    expect(trace?.name).toHaveLength(1000);
  });
});

function nestedLists(depth: number): object {
  let value: object = { stringValue: 'inside' };
  for (let at = 0; at < depth; at++) value = { arrayValue: { values: [value] } };
  return value;
}
