import { describe, expect, it } from 'vitest';
import type { ApiWrite } from '../../../client/api-client/index.js';
import { Pod } from '../../../machinery/kubernetes/index.js';
import { FakeCluster } from '../../../testing/fake-cluster.js';
import type { Decision } from '../../controller/index.js';
import { runTellingWrites, writtenDecision } from './written-decision.js';

const aWrite = (write: Partial<ApiWrite> = {}): ApiWrite => ({
  ...{ verb: 'create', type: Pod, ref: { namespace: 'default', name: 'web-x' } },
  ...write,
});

describe('the decision of a sync that decides as it goes', () => {
  it('names each write, and the namespace where that is another one', () => {
    const writes = [
      aWrite(),
      aWrite({ verb: 'update', subresource: 'status' }),
      aWrite({ verb: 'delete', ref: { namespace: 'other', name: 'a' } }),
      aWrite({ verb: 'deletecollection', ref: { namespace: 'default', name: '' } }),
    ];
    expect(writtenDecision(writes, 'default').summary).toBe(
      'create pods/web-x; update pods/web-x/status; delete pods/other/a; deletecollection pods',
    );
  });

  it('counts what is too much to be named', () => {
    const { inputs, summary } = writtenDecision(
      Array.from({ length: 30 }, () => aWrite()),
      'default',
    );
    expect(summary.split('; ')).toHaveLength(9);
    expect(summary).toMatch(/; and 22 more writes$/);
    expect(inputs).toEqual({ 'rollkeeper.writes': 30 });
  });

  it('changes nothing where it only wrote a status', () => {
    expect(writtenDecision([aWrite({ subresource: 'status' })], 'default').changes).toBe(false);
    expect(writtenDecision([aWrite({ subresource: 'status' }), aWrite()], 'default').changes).toBe(true);
  });

  it('is reported when the sync has to end, although it goes on, and once for each write', async () => {
    const cluster = new FakeCluster();
    const stop = new AbortController();
    const told: Decision[] = [];
    const end = Promise.withResolvers<object>();
    const begun = Promise.withResolvers<void>();
    const ended = runTellingWrites(
      async (client) => {
        await client.create(Pod, {
          ...{ apiVersion: 'v1', kind: 'Pod' },
          metadata: { namespace: 'default', name: 'web-x' },
          spec: { containers: [] },
        });
        begun.resolve();
        return end.promise;
      },
      { key: 'default/web', namespace: 'default', name: 'web' },
      { client: cluster, signal: stop.signal },
      (decide) => {
        const decided = decide();
        told.push(decided.decision);
        return decided;
      },
    );
    await begun.promise;
    expect(told).toEqual([]);
    stop.abort(new Error('too long'));
    expect(told.map(({ summary }) => summary)).toEqual(['create pods/web-x']);
    end.resolve({});
    await ended;
    expect(told).toHaveLength(1);
  });
});
