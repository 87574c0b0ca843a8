import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MemoryStorage } from '../../src/apiserver/index.js';
import { FakeClock } from '../../src/machinery/clock/index.js';
import type { RunningApiServer } from './api-server-harness.js';
import { startApiServer } from './api-server-harness.js';

const NAMESPACE = '/api/v1/namespaces/default';
const TEMPLATES = `${NAMESPACE}/podtemplates`;
const MERGE = { 'content-type': 'application/merge-patch+json' };
const STRATEGIC = { 'content-type': 'application/strategic-merge-patch+json' };

// These follow conformance tests of Kubernetes, one request after the other.

describe('a list in chunks', () => {
  const names = Array.from({ length: 40 }, (_, index) => `template-${String(index).padStart(4, '0')}`);
  const template = { spec: { containers: [{ name: 'c', image: 'i' }] } };
  const clock = new FakeClock(Date.parse('2026-01-01T00:00:00Z'));
  let api: RunningApiServer;

  beforeAll(async () => {
    api = await startApiServer({ clock, storage: new MemoryStorage({ clock }) });
    for (const name of names) await api.call('POST', TEMPLATES, { metadata: { name }, template });
  });
  afterAll(() => api.stop());

  it('shows one state, with how much is left', async () => {
    const found: string[] = [];
    const versions = new Set<string>();
    let next = '';
    do {
      const query = `limit=17&continue=${encodeURIComponent(next)}`;
      const { body } = await api.call('GET', `${TEMPLATES}?${query}`);
      found.push(...body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name));
      versions.add(body.metadata.resourceVersion);
      next = body.metadata.continue ?? '';
      expect(body.metadata.remainingItemCount ?? 0).toBe(names.length - found.length);
    } while (next !== '');
    expect(found).toEqual(names);
    expect(versions.size).toBe(1);
  });

  it('continues after some minutes with what there is now, by the token of the refusal', async () => {
    const first = await api.call('GET', `${TEMPLATES}?limit=10`);
    const path = (token: string) => `${TEMPLATES}?limit=40&continue=${encodeURIComponent(token)}`;
    await api.call('DELETE', `${TEMPLATES}/${names[20]}`);
    expect((await api.call('GET', path(first.body.metadata.continue))).body.items).toHaveLength(30);
    await clock.advance(6 * 60_000);
    const late = await api.call('GET', path(first.body.metadata.continue));
    expect([late.status, late.body.reason]).toEqual([410, 'Expired']);
    const rest = await api.call('GET', path(late.body.metadata.continue));
    expect(rest.body.items).toHaveLength(29);
    expect(rest.body.metadata.resourceVersion).not.toBe(first.body.metadata.resourceVersion);
  });
});

describe('the life cycle of', () => {
  let api: RunningApiServer;

  beforeAll(async () => {
    api = await startApiServer();
  });
  afterAll(() => api.stop());

  async function codes(...requests: Parameters<RunningApiServer['call']>[]): Promise<number[]> {
    const answers: number[] = [];
    for (const request of requests) answers.push((await api.call(...request)).status);
    return answers;
  }

  it('Endpoints: created, listed everywhere, replaced, patched, deleted by its label', async () => {
    const metadata = { name: 'test', labels: { 'test-endpoint-static': 'true' } };
    const subset = (port: number) => ({ addresses: [{ ip: '10.0.0.24' }], ports: [{ name: 'http', port }] });
    const path = `${NAMESPACE}/endpoints`;
    const labelled = '?labelSelector=test-endpoint-static%3Dtrue';
    const made = await api.call('POST', path, { metadata, subsets: [subset(80)] });
    expect(made.status).toBe(201);
    const everywhere = await api.call('GET', `/api/v1/endpoints${labelled}`);
    expect(everywhere.body.items).toHaveLength(1);
    const changed = {
      ...made.body,
      metadata: { ...made.body.metadata, labels: { ...metadata.labels, a: 'b' } },
    };
    const patch = { metadata: { labels: { c: 'd' } }, subsets: [subset(8080)] };
    expect(
      await codes(
        ['PUT', `${path}/test`, changed],
        ['PATCH', `${path}/test`, patch, STRATEGIC],
        ['GET', `${path}/test`],
      ),
    ).toEqual([200, 200, 200]);
    const { body } = await api.call('GET', `${path}/test`);
    expect([body.metadata.labels, body.subsets]).toEqual([
      { ...metadata.labels, a: 'b', c: 'd' },
      [subset(8080)].map((one) => ({ ...one, ports: [{ ...one.ports[0], protocol: 'TCP' }] })),
    ]);
    expect(await codes(['DELETE', `${path}${labelled}`], ['GET', `${path}/test`])).toEqual([200, 404]);
  });

  it('a VolumeAttachment: its status is read, replaced and patched apart from it', async () => {
    const path = '/apis/storage.k8s.io/v1/volumeattachments';
    const spec = { attacher: 'e2e.example.com', nodeName: 'node', source: { persistentVolumeName: 'pv' } };
    const made = await api.call('POST', path, { metadata: { name: 'va', labels: { e2e: 'va' } }, spec });
    expect([made.status, made.body.status]).toEqual([201, { attached: false }]);
    const { body: patched } = await api.call(
      'PATCH',
      `${path}/va/status`,
      { status: { attached: true } },
      MERGE,
    );
    expect(patched.status).toEqual({ attached: true });
    const { body: read } = await api.call('GET', `${path}/va/status`);
    expect([read.spec, read.status]).toEqual([spec, { attached: true }]);
    const replaced = { ...read, spec: { ...spec, attacher: 'other' }, status: { attached: false } };
    const { body: updated } = await api.call('PUT', `${path}/va/status`, replaced);
    expect([updated.spec, updated.status]).toEqual([spec, { attached: false }]);
    const { body: labelled } = await api.call(
      'PATCH',
      `${path}/va`,
      { metadata: { labels: { a: 'b' } } },
      MERGE,
    );
    expect(labelled.metadata.labels).toEqual({ e2e: 'va', a: 'b' });
    expect(await codes(['DELETE', `${path}?labelSelector=e2e%3Dva`], ['GET', `${path}/va`])).toEqual([
      200, 404,
    ]);
  });

  it('an object that is deleted by its UID: an empty one is none', async () => {
    const path = `${NAMESPACE}/configmaps`;
    const { body } = await api.call('POST', path, { metadata: { name: 'a' } });
    const { uid } = body.metadata;
    const refused = await api.call('DELETE', `${path}/a`, { preconditions: { uid: '' } });
    expect([refused.status, refused.body.message]).toEqual([
      409,
      expect.stringContaining(`the UID in the precondition () does not match the UID in record (${uid})`),
    ]);
    expect(await codes(['DELETE', `${path}/a`, { preconditions: { uid } }])).toEqual([200]);
  });
});
