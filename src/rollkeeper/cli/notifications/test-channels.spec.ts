import { describe, expect, it } from 'vitest';
import { FakeClock, SeededRandom } from '../../../machinery/clock/index.js';
import { Secret } from '../../../machinery/kubernetes/index.js';
import { parseHostRules } from '../../../controllers/deployment/index.js';
import type { HttpSender, OutgoingRequest } from '../../../controllers/deployment/index.js';
import { aDeployment } from '../../../testing/deployment-builder.js';
import { FakeCluster } from '../../../testing/fake-cluster.js';
import { channelsIn, renderTested, testChannels } from './test-channels.js';

const HOST = 'hooks.slack.com';
const URL_OF = `https://${HOST}/services/very-secret`;

function aSecret(name: string, data: Readonly<Record<string, string>>, hosts = HOST): Secret {
  const encoded = Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]);
  return {
    ...{ apiVersion: 'v1', kind: 'Secret' },
    metadata: { name, namespace: 'shop', annotations: { 'rollkeeper.dev/check-hosts': hosts } },
    data: Object.fromEntries(encoded) as Record<string, string>,
  };
}

class Lab {
  readonly cluster = new FakeCluster();
  readonly sent: OutgoingRequest[] = [];
  status = 200;

  test(names: readonly string[], allowed: string | undefined = HOST) {
    const sender: HttpSender = {
      send: (request) => {
        this.sent.push(request);
        return Promise.resolve({ status: this.status, body: 'very-secret' });
      },
    };
    return testChannels('shop', new Map(names.map((name) => [name, ['namespace']])), {
      client: this.cluster,
      sender,
      mail: () => Promise.reject(new Error('smtps://user:very-secret@example.com')),
      clock: new FakeClock(),
      random: new SeededRandom(1),
      signal: new AbortController().signal,
      hosts: allowed === undefined ? undefined : parseHostRules(allowed, 'hosts'),
    });
  }
}

describe('the channels of a namespace', () => {
  it('are those of the Namespace and of its Deployments, each once with those that name it', () => {
    const notify = (name: string, value?: string) => {
      const annotations: Record<string, string> =
        value === undefined ? {} : { 'rollkeeper.dev/notify': value };
      return { ...aDeployment(), metadata: { name, annotations } };
    };
    const namespace = {
      ...{ apiVersion: 'v1', kind: 'Namespace' },
      metadata: { name: 'shop', annotations: { 'rollkeeper.dev/notify': 'chat' } },
    };
    const deployments = [notify('a', 'chat, on-call'), notify('b'), notify('c', ''), notify('d', 'NO NAME')];
    expect([...channelsIn(namespace, deployments)]).toEqual([
      ['chat', ['namespace', 'deployment/a']],
      ['on-call', ['deployment/a']],
    ]);
    expect([...channelsIn(undefined, [])]).toEqual([]);
  });

  it('get one message each, and the result has the status and no value of a Secret', async () => {
    const lab = new Lab();
    lab.cluster.seed(Secret, aSecret('chat', { service: 'slack', url: URL_OF }));
    lab.cluster.seed(
      Secret,
      aSecret('mail', { service: 'email', url: `smtps://${HOST}`, from: 'a@b', to: 'c@d' }),
    );
    const tested = await lab.test(['chat', 'mail', 'missing']);
    expect(tested).toMatchObject([
      { channel: 'chat', result: 'sent', service: 'slack', status: 200 },
      { channel: 'mail', result: 'failed', service: 'email' },
      { channel: 'missing', result: 'failed', error: 'there is no Secret missing' },
    ]);
    expect(lab.sent).toHaveLength(1);
    expect(lab.sent[0]?.body).toContain('Test of channel chat in namespace shop');
    expect(renderTested(tested) + JSON.stringify(tested)).not.toContain('very-secret');
  });

  it('have failed if the service refuses, the operator allows no such host, or the Secret does not', async () => {
    const lab = new Lab();
    lab.cluster.seed(Secret, aSecret('chat', { service: 'slack', url: URL_OF }));
    lab.cluster.seed(Secret, aSecret('other', { service: 'slack', url: URL_OF }, 'example.com'));
    lab.status = 404;
    expect(await lab.test(['chat'])).toMatchObject([{ result: 'failed', error: 'the service answered 404' }]);
    expect(await lab.test(['chat'], 'example.com')).toMatchObject([
      { result: 'failed', error: expect.stringContaining('--notification-hosts') },
    ]);
    expect(await lab.test(['other'], undefined)).toMatchObject([
      { result: 'failed', error: expect.stringContaining('rollkeeper.dev/check-hosts') },
    ]);
  });

  it('open no alert of PagerDuty', async () => {
    const lab = new Lab();
    const keys = { service: 'pagerduty', 'routing-key': 'k' };
    lab.cluster.seed(Secret, aSecret('on-call', keys, 'events.pagerduty.com'));
    expect(await lab.test(['on-call'], 'events.pagerduty.com')).toMatchObject([{ result: 'sent' }]);
    expect(JSON.parse(lab.sent[0]?.body ?? '')).toMatchObject({ event_action: 'resolve' });
  });
});
