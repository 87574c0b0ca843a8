import { describe, expect, it } from 'vitest';
import { shardHash } from '@rollkeeper/machinery/kubernetes';
import type { ShardField } from '@rollkeeper/machinery/kubernetes';
import { toStorageEvent } from '../../storage/index.js';
import type { LoggedWrite, StorageEvent } from '../../storage/index.js';
import { SharedEvents } from './shared-events.js';

function anEntry(name = 'a'): LoggedWrite {
  const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name } };
  return {
    type: 'created',
    key: { resource: 'pods', namespace: 'n', name },
    revision: 1,
    text: JSON.stringify(object),
    writeId: '2',
    previousRevision: 0,
    previousWriteId: '1',
  };
}

const anEvent = (entry: LoggedWrite): StorageEvent => toStorageEvent(entry);

describe('SharedEvents', () => {
  it('gives all watchers of one write the same objects and the same text', () => {
    const events = new SharedEvents();
    const origin = anEntry();
    const first = events.of(anEvent(origin));
    const second = events.of(anEvent(origin));
    expect(second).toBe(first);
    expect(first.line('ADDED')).toBe(
      '{"type":"ADDED","object":{"apiVersion":"v1","kind":"Pod","metadata":{"resourceVersion":"1","name":"a"}}}\n',
    );
    expect(first.line('MODIFIED')).toContain('"MODIFIED"');
  });

  it('never takes another write of the same revision for it', () => {
    const events = new SharedEvents();
    const first = events.of(anEvent(anEntry('a')));
    const second = events.of(anEvent(anEntry('b')));
    expect(second.event).not.toBe(first.event);
  });

  it('encodes an event that comes from no log', () => {
    const { key, revision } = anEntry();
    const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', resourceVersion: '1' } };
    const shared = new SharedEvents().of({ type: 'created', key, revision, object });
    expect(JSON.parse(shared.line('ADDED'))).toEqual({ type: 'ADDED', object });
  });

  it('makes the hash of an event once for all watchers of shards, and parses nothing for that of a namespace', () => {
    const asked: bigint[] = [];
    const shard = (field: ShardField, isIncluded: boolean) => ({
      ...{ field, text: '' },
      includes: (hash: bigint) => asked.push(hash) > 0 && isIncluded,
    });
    const entry: LoggedWrite = { ...anEntry(), text: 'no JSON' };
    const event = anEvent(entry);
    const events = new SharedEvents();
    expect(events.inShard([event], shard('object.metadata.namespace', true))).toEqual([event]);
    expect(events.inShard([anEvent(entry)], shard('object.metadata.namespace', false))).toEqual([]);
    expect(asked).toEqual([shardHash('n'), shardHash('n')]);
    const shared = events.of(event);
    Object.assign(entry.key, { namespace: 'another' });
    expect(shared.shardHash('object.metadata.namespace')).toBe(shardHash('n'));
    expect(
      events.of(anEvent({ ...entry, key: { ...entry.key } })).shardHash('object.metadata.namespace'),
    ).toBe(shardHash('another'));
  });

  it('hashes the UID of the object of an event, and leaves the progress of a watch to every shard', () => {
    const text = JSON.stringify({ metadata: { name: 'a', uid: 'the-uid' } });
    const events = new SharedEvents();
    const shared = events.of(anEvent({ ...anEntry(), text }));
    expect(shared.shardHash('object.metadata.uid')).toBe(shardHash('the-uid'));
    const progress: StorageEvent = { type: 'progress', revision: 7 };
    const none = { field: 'object.metadata.uid', text: '', includes: () => false } as const;
    expect(events.inShard([progress], none)).toEqual([progress]);
  });

  it('forgets what is old', () => {
    const events = new SharedEvents();
    const origin = anEntry();
    const first = events.of(anEvent(origin));
    for (let i = 0; i < 100; i++) events.of(anEvent(anEntry()));
    expect(events.of(anEvent(origin))).not.toBe(first);
  });
});
