import { expect, it } from 'vitest';
import { WatchFrames, endsInitialEvents } from './proxied-watch.js';

const take = (frames: WatchFrames, ...chunks: string[]): string[] =>
  chunks.flatMap((chunk) => frames.take(Buffer.from(chunk))).map(String);

it('events of JSON are lines, wherever the network has cut them', () => {
  expect(take(new WatchFrames(true), '{"a":1}\n{"b', '":2}', '\n{"c":3}\n{"d"')).toEqual([
    '{"a":1}\n',
    '{"b":2}\n',
    '{"c":3}\n',
  ]);
});

it('frames of another form that have arrived together stay together', () => {
  expect(take(new WatchFrames(false), 'a\nb', 'c')).toEqual(['a\nb', 'c']);
});

it('a bookmark says that all objects have come', () => {
  const bookmark = {
    type: 'BOOKMARK',
    object: { metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } } },
  };
  expect(endsInitialEvents(Buffer.from(JSON.stringify(bookmark)))).toBe(true);
  expect(endsInitialEvents(Buffer.from('{"type":"ADDED"}\n'))).toBe(false);
});
