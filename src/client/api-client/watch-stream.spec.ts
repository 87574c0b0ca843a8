import { FakeClock } from '@rollkeeper/machinery/clock';
import { describe, expect, it, vi } from 'vitest';
import type { KubernetesObject } from '../../machinery/kubernetes/index.js';
import { SHARD_HASHES } from '../../machinery/kubernetes/index.js';
import { AbortScope } from './abort-scope.js';
import type { StreamingAnswer } from './http-transport.js';
import { ObjectShard } from './object-shard.js';
import { WatchStream } from './watch-stream.js';

/** The hash of `bank` is in the upper half, that of `shop` in the lower one. */
const UPPER = { start: SHARD_HASHES / 2n, end: SHARD_HASHES };

const lineOf = (namespace: string, version: number): string =>
  `${JSON.stringify({ type: 'MODIFIED', object: { metadata: { name: 'a', namespace, resourceVersion: String(version) } } })}\n`;

/** The events that a watch of these chunks tells, as text. */
async function eventsOf(chunks: readonly string[], shard: ObjectShard): Promise<readonly string[]> {
  async function* bytes(): AsyncGenerator<Uint8Array> {
    for (const chunk of chunks) yield Buffer.from(chunk);
  }
  const answer: StreamingAnswer = {
    status: 200,
    body: Object.assign(bytes(), { text: async () => '' }),
    scope: new AbortScope(new FakeClock(), undefined, { timeoutMs: 1000 }, () => new Error('silent')),
    explain: (error) => error,
    head: { status: 200, request: 'GET /things' } as StreamingAnswer['head'],
  };
  const stream = new WatchStream<KubernetesObject>(async () => answer, undefined, shard);
  const told: string[] = [];
  for await (const event of stream)
    told.push(
      event.type === 'BOOKMARK'
        ? `up to ${event.resourceVersion}`
        : `${event.object.metadata.namespace} ${event.object.metadata.resourceVersion}`,
    );
  return told;
}

describe('a watch of a shard', () => {
  it('does not look into lines before they are parsed, while the server sends no object of another shard', async () => {
    const shard = new ObjectShard('object.metadata.namespace', [UPPER]);
    const looked = vi.spyOn(shard, 'linesOf');
    const chunks = [lineOf('bank', 1), lineOf('bank', 2) + lineOf('bank', 3)];
    expect(await eventsOf(chunks, shard)).toEqual(['bank 1', 'bank 2', 'bank 3']);
    expect(looked).not.toHaveBeenCalled();
  });

  it('tells of an object of another shard only how far the watch has come, and parses no later ones', async () => {
    const shard = new ObjectShard('object.metadata.namespace', [UPPER]);
    const unparsable = lineOf('shop', 3).replace('}}', ',"spec":nothing}}');
    const chunks = [
      lineOf('bank', 1) + lineOf('shop', 2) + unparsable + lineOf('bank', 4),
      unparsable + lineOf('bank', 5),
      lineOf('shop', 6) + lineOf('shop', 7),
    ];
    expect(await eventsOf(chunks, shard)).toEqual(['bank 1', 'up to 2', 'bank 4', 'bank 5', 'up to 7']);
  });
});
